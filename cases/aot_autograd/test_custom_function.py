"""Custom autograd functions: gradients that their authors wrote by hand."""

import pytest
import torch

from conformance import clause, expected, needs, tensors


class GradientIsSavedInput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return x, grad


def apply(x, y):
    return GradientIsSavedInput.apply(x, y)


def apply_to_product(x, y):
    return GradientIsSavedInput.apply(x, x * y)


def write_then_apply(x, y):
    product = x * y
    product.add_(1)
    return GradientIsSavedInput.apply(product, y)


def apply_then_write(x, y):
    product = x * y
    result = GradientIsSavedInput.apply(product, y)
    product.add_(1)
    return result


@needs("training")
@clause("aot_autograd.custom_function.gradient_is_saved_input")
def test_gradient_is_a_saved_input(stack, device):
    """A custom function whose gradient is an input that it saved gives that gradient, beside one that it passes on."""
    run = stack.run(apply, tensors((3,), (3,), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3]
in1: f32[3]
view: f32[3] = aten.view(in1, [3])
return (view, in0)
""")
    run.backward.expect("""\
in0: f32[3]
in1: f32[3]
return (in0, in1)
""")


@needs("training")
@clause("aot_autograd.custom_function.gradient_is_saved_input")
def test_gradient_is_a_saved_input_between_other_ops(stack, device):
    """A gradient that is a saved input is added to what flows through other ops, and the input stays as it was."""
    run = stack.run(apply_to_product, tensors((3,), (3,), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.expect("""\
in0: f32[3]
in1: f32[3]
in2: f32[3]
mul: f32[3] = aten.mul(in0, in1)
view: f32[3] = aten.view(mul, [3])
mul_1: f32[3] = aten.mul(in2, in0)
mul_2: f32[3] = aten.mul(in2, in1)
add: f32[3] = aten.add(in0, mul_2)
return [view, add, mul_1]
""")


@needs("training")
@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(
            write_then_apply, expected("""aten.mul; aten.add; aten.view; aten.mul; aten.mul; aten.add"""), id="before"
        ),
        pytest.param(
            apply_then_write, expected("""aten.mul; aten.view; aten.add; aten.mul; aten.mul; aten.add"""), id="after"
        ),
    ],
)
@clause("aot_autograd.saved_tensors.modified")
def test_saved_intermediate_is_written(stack, device, program, operators):
    """A write to what a custom function saved makes the backward raise; one before it was saved does not."""
    run = stack.run(program, tensors((3,), (3,), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect(operators)
