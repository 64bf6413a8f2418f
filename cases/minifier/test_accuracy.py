"""Accuracy minification: what counts as an error, and which of two errors is found."""

import torch

from conformance import clause, needs


def difference_from_a_product(x, factor):
    return torch.abs(x - factor * 100)


def the_product_itself(device):
    product, factor = 655 * 100, 655
    return [tuple(torch.tensor(value, dtype=torch.half, device=device) for value in (product, factor))]


def log_then_choose(x):
    x = torch.log1p(x)
    positive = torch.logical_not(torch.logical_not(x > 0))
    return torch.where(positive, torch.relu(x), x)


def positive_and_negative(device):
    return [(torch.linspace(-0.5, 2, 40, device=device).reshape(20, 2),)]


@needs("minifier_after_aot")
@clause("minifier.accuracy.more_precise_than_eager")
def test_more_precise_than_eager_is_no_error(stack, device):
    """A result nearer to the float64 reference than eager's own is not an accuracy error."""
    run = stack.minify(difference_from_a_product, the_product_itself, device=device, after="aot", level=4)

    run.assert_no_repro()
    run.outcome.expect("""program: passed""")


@needs("minifier_after_aot")
@clause("minifier.accuracy.strict_comparison")
def test_more_precise_than_eager_is_a_strict_error(stack, device):
    """Compared with eager itself, without the float64 reference, the same result is one."""
    run = stack.minify(
        difference_from_a_product,
        the_product_itself,
        device=device,
        after="aot",
        level=4,
        config={"dynamo.same_two_models_use_fp64": False},
        launcher=["--strict-accuracy"],
    )

    run.assert_minified()
    run.repro.expect("""\
in0: f16[]
in1: f16[]
mul: f16[] = aten.mul(in0, 100)
sub: f16[] = aten.sub(in1, mul)
return (sub,)
""")


@needs("minifier_after_aot")
@clause("minifier.accuracy.floating_point_divergence")
def test_cause_of_a_floating_point_divergence(stack, device):
    """Of two faults the one is found at which floating-point results begin to differ."""
    run = stack.minify(
        log_then_choose,
        positive_and_negative,
        device=device,
        after="aot",
        fault=["relu.accuracy", "log1p.accuracy"],
        launcher=["--accuracy"],
    )

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 2]
relu: f32[20, 2] = aten.relu(in0)
return (relu,)
""")


@needs("minifier_after_aot")
@clause("minifier.accuracy.strict_divergence")
def test_any_divergence_strictly(stack, device):
    """With strict accuracy any output that differs is followed, here to the other fault."""
    run = stack.minify(
        log_then_choose,
        positive_and_negative,
        device=device,
        after="aot",
        fault=["relu.accuracy", "log1p.accuracy"],
        launcher=["--strict-accuracy"],
    )

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 2]
log1p: f32[20, 2] = aten.log1p(in0)
return (log1p,)
""")
