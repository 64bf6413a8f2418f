"""Views of an intermediate: outputs that share memory with one another do so in every way eager's do."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def transposed(x):
    y = x * 2
    return y, y.t()


def flat(x):
    y = x * 2
    return y, y.view(6)


def row(x):
    y = x * 2
    return y[1], y


def overlapping(x):
    y = x * 2
    return y[:, :2], y[:, 1:]


def view_of_a_view(x):
    y = x * 2
    return y.t(), y.t()[1]


def expanded(x):
    y = x * 2
    return y, y.expand(2, 2, 3)


def diagonal(x):
    y = x * 2
    return y, y.diagonal()


def unfolded(x):
    y = x * 2
    return y, y.unfold(1, 2, 1)


def strided(x):
    y = x * 2
    return y, y.as_strided((2, 2), (3, 2))


def detached(x):
    y = x * 2
    return y, y.detach()


def bits(x):
    y = x * 2
    return y, y.view(torch.int32)


def complex_pairs(x):
    y = x * 2
    return y, torch.view_as_complex(y.view(3, 2))


def view_alone(x):
    y = x * 2
    return (y.view(6),)


def two_views_alone(x):
    y = x * 2
    return y.t(), y.view(3, 2)


def parts(x):
    y = x * 2
    return (y, *y.chunk(2))


def rows(x):
    y = x * 2
    return (*y.unbind(), y)


def write_each(arguments, outputs):
    """Each output gets a number of its own, which shows in whatever shares its memory."""
    with torch.no_grad():
        for number, output in enumerate(outputs):
            output[(-1,) * output.dim()].fill_(40 + number)


VIEWS = [
    pytest.param(transposed, expected("""aten.mul; aten.t"""), id="transposed"),
    pytest.param(flat, expected("""aten.mul; aten.view"""), id="flat"),
    pytest.param(row, expected("""aten.mul; aten.select"""), id="row"),
    pytest.param(overlapping, expected("""aten.mul; aten.slice; aten.slice"""), id="overlapping"),
    pytest.param(view_of_a_view, expected("""aten.mul; aten.t; aten.t; aten.select"""), id="view_of_a_view"),
    pytest.param(expanded, expected("""aten.mul; aten.expand"""), id="expanded"),
    pytest.param(diagonal, expected("""aten.mul; aten.diagonal"""), id="diagonal"),
    pytest.param(unfolded, expected("""aten.mul; aten.unfold"""), id="unfolded"),
    pytest.param(strided, expected("""aten.mul; aten.as_strided"""), id="strided"),
    pytest.param(detached, expected("""aten.mul"""), id="detached"),
    pytest.param(bits, expected("""aten.mul; aten.view"""), id="bits"),
    pytest.param(complex_pairs, expected("""aten.mul; aten.view; aten.view_as_complex"""), id="complex_pairs"),
    pytest.param(view_alone, expected("""aten.mul; aten.view"""), id="view_alone"),
    pytest.param(two_views_alone, expected("""aten.mul; aten.t; aten.view"""), id="two_views_alone"),
]

PARTS = [
    pytest.param(parts, expected("""aten.mul; aten.split"""), id="parts"),
    pytest.param(rows, expected("""aten.mul; aten.unbind"""), id="rows"),
]


@pytest.mark.parametrize("requires_grad", [pytest.param(False, id="without_grad"), pytest.param(True, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), VIEWS)
@clause("aot_autograd.aliasing.view_of_intermediate")
def test_outputs_share_memory(stack, device, program, operators, requires_grad):
    """Outputs that are views of one intermediate share its memory: a write to one shows in the others."""
    run = stack.run(Program.of(program, after=write_each), tensors((2, 3), device=device, requires_grad=requires_grad))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize(("program", "operators"), PARTS)
@clause("aot_autograd.aliasing.view_of_intermediate")
def test_outputs_of_one_operator_share_memory(stack, device, program, operators):
    """Views that one operator makes of an intermediate share its memory."""
    run = stack.run(Program.of(program, after=write_each), tensors((2, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
