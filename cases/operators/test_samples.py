"""Operators on the inputs that torch's own operator database gives them."""

from conformance import assert_samples_as_eager, by_scope, clause, operators

FLOATS = """
    pointwise+rounding+comparison+reduction+scan-float32 indexing+scattering+views+sorting+pooling-float32
    products+convolution+normalization+loss-float32 fft+linear_algebra-float32
"""
INTEGERS = "remainders+bits+scattering-int64 reduction-uint8+bool"
IN_FULL = """
    resampling-float32 conversion-float32 pointwise-int64 rounding-int64 scan-int64+uint8 products-int64+int8 bits-bool
    comparison-uint8
"""


@by_scope("row", operators(FLOATS + INTEGERS, IN_FULL))
@clause("operators.results.as_eager")
def test_results(stack, device, row):
    """Every sample gives the values, dtypes, shapes and strides of eager."""
    assert_samples_as_eager(stack, row, "results")


@by_scope("row", operators("remainders-float32", each="every_form"))
@clause("operators.results.as_eager")
def test_every_form(stack, device, row):
    """Every operator alone, in all dtypes of a group: its samples, in place, into results, other layouts and values."""
    assert_samples_as_eager(stack, row, "every_form")


@by_scope(
    "row", operators("pointwise-float32", "reduction-float32 indexing-float32 normalization-float32", each="gradients")
)
@clause("operators.gradients.as_eager")
def test_gradients(stack, device, row):
    """Every differentiable operand of every sample gets the gradient of eager."""
    assert_samples_as_eager(stack, row, "gradients")


@by_scope("row", operators("rounding-float32", "pointwise-float32"))
@clause("operators.calls.repeated")
def test_second_call(stack, device, row):
    """The second call on equal inputs gives what the first gives."""
    assert_samples_as_eager(stack, row, "results", calls=2)


@by_scope("row", operators("random-float32 dropout-float32", each="random"))
@clause("operators.random.as_eager")
def test_random_numbers(stack, device, row):
    """Random operators draw the numbers of eager, and leave the generator where eager leaves it."""
    assert_samples_as_eager(stack, row, "results")
