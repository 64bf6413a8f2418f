"""Operators in their other forms: in place, into tensors that are given, on other layouts, sizes and values."""

from conformance import assert_samples_as_eager, by_scope, clause, operators


@by_scope("row", operators("pointwise-float32", "rounding-int64 bits-int64"))
@clause("operators.forms.in_place")
def test_in_place(stack, device, row):
    """The first operand holds the result afterwards, and is what is returned."""
    assert_samples_as_eager(stack, row, "in_place")


@by_scope("row", operators("scan-float32", "pointwise-float32 reduction-float32 scan-int64"))
@clause("operators.forms.out")
def test_out(stack, device, row):
    """What is given for the results is resized where it is empty, written in its own layout and returned."""
    assert_samples_as_eager(stack, row, "out")


@by_scope("row", operators("pointwise+normalization-float32", "indexing-float32 pooling-float32"))
@clause("operators.inputs.layouts")
def test_other_order_of_dimensions(stack, device, row):
    """Operands whose dimensions lie in memory in the opposite order, or as channels_last."""
    assert_samples_as_eager(stack, row, "transposed")


@by_scope("row", operators("scan-float32", "reduction-float32 views-float32 sorting-float32"))
@clause("operators.inputs.layouts")
def test_gaps(stack, device, row):
    """Operands that are every second element of a larger tensor."""
    assert_samples_as_eager(stack, row, "gaps")


@by_scope("row", operators("pointwise-float32", "reduction-float32 scan-float32 scattering-float32"))
@clause("operators.inputs.small_sizes")
def test_small_sizes(stack, device, row):
    """Operands without dimensions, without elements and with dimensions of size one."""
    assert_samples_as_eager(stack, row, "small_sizes")


@by_scope(
    "row",
    operators("pointwise+remainders-float32", "rounding-int64 rounding-float32 comparison-float32 reduction-float32"),
)
@clause("operators.inputs.special_values")
def test_special_values(stack, device, row):
    """NaN, infinities, zeros of both signs and subnormals, or the limits of integers."""
    assert_samples_as_eager(stack, row, "special_values")
