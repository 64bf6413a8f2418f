"""Views that a program takes with grad mode off: they have no history, whatever they are views of."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def view_of_input(x):
    with torch.no_grad():
        return x.view(6)


def part_of_input(x):
    with torch.no_grad():
        row = x[1]
    return row, x * 2


def view_of_intermediate(x):
    y = x * 2
    with torch.no_grad():
        return y, y.t()


def detached_view(x):
    return x.detach().t(), x * 2


def view_then_computed(x):
    with torch.no_grad():
        row = x[1]
    return row * x[0]


def view_taken_back(x):
    """The view has no history, what is computed of it with grad mode on has none of it either."""
    with torch.no_grad():
        y = x.t()
    return y * 3, x * 2


def write_input(arguments, outputs):
    """The parts of the memory that are shared are so whoever has history."""
    with torch.no_grad():
        arguments[0].fill_(9)


PROGRAMS = [
    pytest.param(view_of_input, expected("""aten.view"""), id="view_of_input"),
    pytest.param(part_of_input, expected("""aten.select; aten.mul"""), id="part_of_input"),
    pytest.param(view_of_intermediate, expected("""aten.mul; aten.t"""), id="view_of_intermediate"),
    pytest.param(detached_view, expected("""aten.t; aten.mul"""), id="detached_view"),
    pytest.param(view_then_computed, expected("""aten.select; aten.select; aten.mul"""), id="view_then_computed"),
    pytest.param(view_taken_back, expected("""aten.t; aten.mul; aten.mul"""), id="view_taken_back"),
]


@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@clause("aot_autograd.aliasing.view_without_history")
def test_view_has_no_history(stack, device, program, operators):
    """A view that the program takes with grad mode off has no history."""
    run = stack.run(
        Program.of(program, backward=False, after=write_input), tensors((2, 3), device=device, requires_grad=True)
    )

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
