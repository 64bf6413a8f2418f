"""Programs that change no element of an input: the output has memory of its own, or is a view, as in eager."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def add_zero(x):
    return (x + 0,)


def subtract_zero(x):
    return (x - 0,)


def times_one(x):
    return (x * 1,)


def over_one(x):
    return (x / 1,)


def add_zeros(x):
    return (x + torch.zeros(3, device=x.device),)


def power_one(x):
    return (x**1,)


def double_negation(x):
    return (-(-x),)


def copied(x):
    return (x.clone(),)


def concatenated(x):
    return (torch.cat([x]),)


def stacked(x):
    return (torch.stack([x])[0],)


def padded(x):
    return (torch.nn.functional.pad(x, (0, 0)),)


def repeated(x):
    return (x.repeat(1, 1),)


def row_plus_zero(x):
    return (x[1] + 0,)


def selected(x):
    return (x.index_select(0, torch.arange(2, device=x.device)),)


def whole_slice(x):
    return (x[:],)


def same_view(x):
    return (x.view(2, 3),)


def same_reshape(x):
    return (x.reshape(2, 3),)


def nothing_to_squeeze(x):
    return (x.squeeze(),)


def same_expand(x):
    return (x.expand(2, 3),)


def transposed_back(x):
    return (x.t().t(),)


def detached(x):
    return (x.detach(),)


def write_each(arguments, outputs):
    """Each output gets a number of its own, which shows in whatever shares its memory."""
    with torch.no_grad():
        for number, output in enumerate(outputs):
            output[(-1,) * output.dim()].fill_(40 + number)


COPIES = [
    pytest.param(add_zero, expected("""aten.add"""), id="add_zero"),
    pytest.param(subtract_zero, expected("""aten.sub"""), id="subtract_zero"),
    pytest.param(times_one, expected("""aten.mul"""), id="times_one"),
    pytest.param(over_one, expected("""aten.div"""), id="over_one"),
    pytest.param(add_zeros, expected("""aten.zeros; aten.add"""), id="add_zeros"),
    pytest.param(power_one, expected("""aten.pow"""), id="power_one"),
    pytest.param(double_negation, expected("""aten.neg; aten.neg"""), id="double_negation"),
    pytest.param(copied, expected("""aten.clone"""), id="copied"),
    pytest.param(concatenated, expected("""aten.cat"""), id="concatenated"),
    pytest.param(stacked, expected("""aten.stack; aten.select"""), id="stacked"),
    pytest.param(padded, expected("""aten.constant_pad_nd"""), id="padded"),
    pytest.param(repeated, expected("""aten.repeat"""), id="repeated"),
    pytest.param(row_plus_zero, expected("""aten.select; aten.add"""), id="row_plus_zero"),
    pytest.param(selected, expected("""aten.arange; aten.index_select"""), id="selected"),
]

VIEWS = [
    pytest.param(whole_slice, expected("""aten.slice"""), id="whole_slice"),
    pytest.param(same_view, expected("""aten.view"""), id="same_view"),
    pytest.param(same_reshape, expected("""aten.view"""), id="same_reshape"),
    pytest.param(nothing_to_squeeze, expected("""aten.squeeze"""), id="nothing_to_squeeze"),
    pytest.param(same_expand, expected("""aten.expand"""), id="same_expand"),
    pytest.param(transposed_back, expected("""aten.t; aten.t"""), id="transposed_back"),
    pytest.param(detached, expected("""aten.detach"""), id="detached"),
]


@pytest.mark.parametrize(("program", "operators"), COPIES)
@clause("aot_autograd.aliasing.no_new_alias")
def test_output_has_memory_of_its_own(stack, device, program, operators):
    """An output that eager computes has memory of its own, even when it equals the input: a write to it leaves the input alone."""
    run = stack.run(Program.of(program, after=write_each), tensors((2, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("requires_grad", [pytest.param(False, id="without_grad"), pytest.param(True, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), VIEWS)
@clause("aot_autograd.aliasing.identity")
def test_output_is_a_view_of_all(stack, device, program, operators, requires_grad):
    """A view that shows all of an input is a tensor of its own on the input's memory."""
    run = stack.run(Program.of(program, after=write_each), tensors((2, 3), device=device, requires_grad=requires_grad))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
