"""Copies of an input: what backward uses is what was copied, whatever the program writes to the input afterwards."""

import pytest
import torch

from conformance import clause, expected, needs


def shifted_after_unsqueeze(x, y):
    scaled = x.unsqueeze(0).clone() * y
    x.mul_(3)
    return scaled


def cleared_after_slice(x, y):
    rows = x[1:].clone().mul(y[1:])
    x.zero_()
    return rows


def lowered_after_permute(x, y):
    moved = x.permute(1, 0).contiguous() * y
    x.sub_(2)
    return moved


def raised_after_transpose(x, y):
    """The sine of the copy is saved by an operator of its own."""
    result = x.mT.clone().sin() * y
    x.fill_(1)
    return result


def row_written_after_product(x, y):
    product = torch.mm(x.mT.clone(), y)
    x[0].fill_(7)
    return product


def written_and_differentiable(device):
    x = torch.arange(9.0, device=device).reshape(3, 3)
    return [(x, (x % 4 - 1).requires_grad_())]


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(shifted_after_unsqueeze, expected("""aten.unsqueeze; aten.clone; aten.mul; aten.mul; aten.copy_"""), id="unsqueeze"),
        pytest.param(cleared_after_slice, expected("""aten.slice; aten.clone; aten.slice; aten.mul; aten.zero; aten.copy_"""), id="slice"),
        pytest.param(lowered_after_permute, expected("""aten.permute; aten.clone; aten.mul; aten.sub; aten.copy_"""), id="permute"),
        pytest.param(raised_after_transpose, expected("""aten.transpose; aten.clone; aten.sin; aten.mul; aten.fill; aten.copy_"""), id="sine"),
        pytest.param(row_written_after_product, expected("""aten.transpose; aten.clone; aten.mm; aten.select; aten.fill; aten.select_scatter; aten.copy_"""), id="product"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.saved_tensors.copies")
def test_gradient_of_what_was_copied(stack, device, program, operators):
    """The gradient comes from the values that the input had when the program copied it."""
    run = stack.run(program, written_and_differentiable)

    run.forward.operators.expect(operators)
    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
