"""Lifetimes: what nobody keeps after a call is gone, in a further call on fresh arguments as well."""

import pytest
import torch

from conformance import Program, clause, expected, needs, tensors


def affine(x, y):
    return x * 2 + y, y.t()


def write(x, y):
    x.mul_(y)
    return x.sum()


def in_two_graphs(x, y):
    product = x * y
    if product.sum() > 1000:
        return product
    return product.sum(0) + y


def save(x, y):
    return (x.sin() * y).exp()


class SavesByHand(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x


def save_by_hand(x, y):
    return SavesByHand.apply(x, y)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(affine, expected("""aten.mul; aten.add; aten.t"""), id="outputs"),
        pytest.param(write, expected("""aten.mul; aten.sum; aten.copy_"""), id="written"),
    ],
)
@needs("input_mutation")
@clause("aot_autograd.lifetimes.let_go")
def test_arguments_and_outputs_are_let_go(stack, device, program, operators):
    """A call of a compiled program keeps none of its arguments and outputs alive."""
    run = stack.run(Program.of(program, inference=True), tensors((3, 3), (3, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@needs("graph_breaks")
@clause("aot_autograd.lifetimes.let_go")
def test_what_passes_between_graphs_is_let_go(stack, device):
    """What one graph hands to the next is kept by neither."""
    run = stack.run(in_two_graphs, tensors((3, 3), (3, 3), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)
    run.forward.operators.expect("""\
aten.mul
aten.sum
aten.gt
aten.sum
aten.add
""")


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(save, expected("""aten.mul; aten.mul; aten.mul; aten.cos; aten.mul"""), id="by_operators"),
        pytest.param(save_by_hand, expected("""aten.mul; aten.mul"""), id="by_hand"),
    ],
)
@needs("training")
@clause("aot_autograd.lifetimes.after_backward")
def test_saved_tensors_are_let_go(stack, device, program, operators):
    """After the backward nothing is left of what was saved for it."""
    run = stack.run(program, tensors((3, 3), (3, 3), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.operators.expect(operators)
