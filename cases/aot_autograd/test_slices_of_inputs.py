"""Slices of inputs: an output that holds some of an input's elements is a view of it."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def select(x):
    return x.select(0, 1)


def row(x):
    return x[1]


def element(x):
    return x[1, 2]


def rows(x):
    return x[1:]


def every_other_column(x):
    return x[:, ::2]


def column(x):
    return x[..., 1]


def narrow(x):
    return x.narrow(1, 1, 2)


def diagonal(x):
    return x.diagonal(1)


def unfold(x):
    return x.unfold(1, 2, 1)


def overlapping_rows(x):
    return x.as_strided((2, 3), (1, 1), 2)


def every_part(x):
    """With no gradients nothing ties one part to another, and one graph has them all."""
    return (
        select(x),
        row(x),
        element(x),
        rows(x),
        every_other_column(x),
        column(x),
        narrow(x),
        diagonal(x),
        unfold(x),
        overlapping_rows(x),
    )


def plain(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]


def special(device):
    return tensors((2, 3), device=device, special=True)(device)


def with_history(device):
    leaf = torch.arange(6.0, device=device).requires_grad_()
    return [(leaf.clone().reshape(2, 3),)]


def write(arguments, outputs):
    """Each side writes what the others are to show: seven less for each view of an element."""
    with torch.no_grad():
        for output in outputs:
            output[(0,) * output.dim()].sub_(7)
        arguments[0][1, 2] = 9


def scale(arguments, output):
    """Autograd sees the write: the gradient of what is computed of the input shows it."""
    output[(0,) * output.dim()].mul_(5)
    arguments[0].sum().backward()


MODES = [
    pytest.param(plain, False, id="without_grad"),
    pytest.param(special, False, id="special_values"),
    pytest.param(with_history, "no_grad", id="no_grad"),
    pytest.param(with_history, "inference_mode", id="inference_mode"),
]

VIEWS = [
    pytest.param(
        select, expected("""in0: f32[2, 3]; select: f32[3] = aten.select(in0, 0, 1); return (select,)"""), id="select"
    ),
    pytest.param(
        row, expected("""in0: f32[2, 3]; select: f32[3] = aten.select(in0, 0, 1); return (select,)"""), id="row"
    ),
    pytest.param(
        element,
        expected(
            """in0: f32[2, 3]; select: f32[3] = aten.select(in0, 0, 1); select_1: f32[] = aten.select(select, 0, 2); return (select_1,)"""
        ),
        id="element",
    ),
    pytest.param(
        rows, expected("""in0: f32[2, 3]; slice: f32[1, 3] = aten.slice(in0, 0, 1, max); return (slice,)"""), id="rows"
    ),
    pytest.param(
        every_other_column,
        expected("""in0: f32[2, 3]; slice: f32[2, 2](3, 2) = aten.slice(in0, 1, 0, max, 2); return (slice,)"""),
        id="every_other_column",
    ),
    pytest.param(
        column,
        expected("""in0: f32[2, 3]; select: f32[2](3) = aten.select(in0, 1, 1); return (select,)"""),
        id="column",
    ),
    pytest.param(
        narrow,
        expected("""in0: f32[2, 3]; slice: f32[2, 2](3, 1) = aten.slice(in0, 1, 1, 3); return (slice,)"""),
        id="narrow",
    ),
    pytest.param(
        diagonal,
        expected("""in0: f32[2, 3]; diagonal: f32[2](4) = aten.diagonal(in0, 1); return (diagonal,)"""),
        id="diagonal",
    ),
    pytest.param(
        unfold,
        expected("""in0: f32[2, 3]; unfold: f32[2, 2, 2](3, 1, 1) = aten.unfold(in0, 1, 2, 1); return (unfold,)"""),
        id="unfold",
    ),
    pytest.param(
        overlapping_rows,
        expected(
            """in0: f32[2, 3]; as_strided: f32[2, 3](1, 1) = aten.as_strided(in0, [2, 3], [1, 1], 2); return (as_strided,)"""
        ),
        id="overlapping_rows",
    ),
]


@pytest.mark.parametrize(("calls", "inference"), MODES)
@clause("aot_autograd.aliasing.view_of_input")
def test_part_of_an_input_without_gradients(stack, device, calls, inference):
    """What comes out without history shares memory with the input: a write to either shows in the other."""
    run = stack.run(Program.of(every_part, inference=inference, after=write), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
select: f32[3] = aten.select(in0, 0, 1)
select_1: f32[3] = aten.select(in0, 0, 1)
select_2: f32[3] = aten.select(in0, 0, 1)
select_3: f32[] = aten.select(select_2, 0, 2)
slice: f32[1, 3] = aten.slice(in0, 0, 1, max)
slice_1: f32[2, 2](3, 2) = aten.slice(in0, 1, 0, max, 2)
select_4: f32[2](3) = aten.select(in0, 1, 1)
slice_2: f32[2, 2](3, 1) = aten.slice(in0, 1, 1, 3)
diagonal: f32[2](4) = aten.diagonal(in0, 1)
unfold: f32[2, 2, 2](3, 1, 1) = aten.unfold(in0, 1, 2, 1)
as_strided: f32[2, 3](1, 1) = aten.as_strided(in0, [2, 3], [1, 1], 2)
return (select, select_1, select_3, slice, slice_1, select_4, slice_2, diagonal, unfold, as_strided)
""")


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_part_of_an_input_with_gradients(stack, device, program, graph):
    """A write to what comes out becomes part of the history of an input that has one."""
    run = stack.run(Program.of(program, after=scale), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
