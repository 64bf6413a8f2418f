"""Outputs that depend on each other: one is differentiated by the other as in eager, or that is refused."""

import pytest
import torch

from conformance import clause, expected, needs, tensors


def product(x, z):
    y = x * 2
    return y, y * z


def reversed_order(x, z):
    y = x * 2
    return (y * z).sin(), y


def through_a_view(x, z):
    y = x * 2
    return y, y.t() @ z


def by_a_view(x, z):
    y = x * 2
    rows = y[1:]
    return rows, rows * rows


def chain(x, z):
    first = x * z
    second = first * first
    return first, second, second * z


def by_input_returned(x, z):
    y = x * z
    return x, y


def derivative(results, by, **options):
    tangent = torch.arange(results.numel(), dtype=results.dtype, device=results.device).reshape(results.shape) + 1
    return torch.autograd.grad(results, by, tangent, **options)


def second_by_first(arguments, outputs):
    return derivative(outputs[1], outputs[0])


def first_by_second(arguments, outputs):
    return derivative(outputs[0], outputs[1])


def last_by_both(arguments, outputs):
    return derivative(outputs[2], outputs[:2])


def second_by_first_or_none(arguments, outputs):
    return derivative(outputs[1], outputs[0], allow_unused=True)


def last_by_first_and_argument(arguments, outputs):
    return derivative(outputs[1], (outputs[0], arguments[1]), allow_unused=True)


@pytest.mark.parametrize(
    ("program", "after", "operators"),
    [
        pytest.param(product, second_by_first, expected("""aten.mul; aten.mul; aten.mul; aten.mul; aten.add; aten.mul"""), id="product"),
        pytest.param(reversed_order, first_by_second, expected("""aten.mul; aten.mul; aten.sin; aten.cos; aten.mul; aten.mul; aten.mul; aten.add; aten.mul"""), id="reversed_order"),
        pytest.param(through_a_view, second_by_first, expected("""aten.mul; aten.t; aten.mm; aten.t; aten.mm; aten.t; aten.mm; aten.t; aten.t; aten.add; aten.mul"""), id="through_a_view"),
        pytest.param(by_a_view, second_by_first, expected("""aten.mul; aten.slice; aten.mul; aten.mul; aten.mul; aten.add; aten.add; aten.slice_backward; aten.mul"""), id="by_a_view"),
        pytest.param(chain, last_by_both, expected("""aten.mul; aten.mul; aten.mul; aten.mul; aten.mul; aten.add; aten.mul; aten.mul; aten.add; aten.add; aten.mul; aten.mul; aten.add"""), id="chain"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.outputs.by_each_other")
def test_by_each_other(stack, device, program, after, operators):
    """The gradient of one output by another, on which it depends, is eager's, or it is refused."""
    leaves = tensors((3, 3), (3, 3), device=device, requires_grad=True)
    run = stack.run(program, leaves, backward=False, after=after)

    run.limit.expect(
        """RuntimeError: One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."""
    )
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect(operators)


@pytest.mark.parametrize(
    ("program", "after"),
    [
        pytest.param(product, second_by_first_or_none, id="none_allowed"),
        pytest.param(product, last_by_first_and_argument, id="beside_an_argument"),
        pytest.param(by_input_returned, second_by_first_or_none, id="input_returned"),
    ],
)
@needs("training")
@clause("aot_autograd.outputs.by_each_other")
def test_never_none(stack, device, program, after):
    """No gradient is None where eager's is not, though the caller allows for inputs that are not used."""
    leaves = tensors((3, 3), (3, 3), device=device, requires_grad=True)
    run = stack.run(program, leaves, backward=False, after=after)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
