"""Inputs as other types: an output that reads an input's memory as another dtype is a view of it."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, expected


def real(x):
    return torch.real(x)


def imag(x):
    return torch.imag(x)


def attribute(x):
    return x.real  # no operator: read from the input after the compiled part


def imag_of_a_row(x):
    return x[1].imag


def view_as_real(x):
    return torch.view_as_real(x)


def view_as_complex(x):
    return torch.view_as_complex(x)


def floats(x):
    return x.view(torch.float32)


def whole_numbers(x):
    return x.view(torch.int32)


def halves(x):
    return x.view(torch.float16)


def every_type(x, y):
    """With no gradients nothing ties one view to another, and one graph has them all."""
    of_complex = real(x), imag(x), attribute(x), imag_of_a_row(x), view_as_real(x), floats(x)
    return *of_complex, view_as_complex(y), whole_numbers(y), halves(y)


def numbers(device, dtype):
    return torch.arange(1.0, 13, device=device).view(dtype).reshape(2, 3, -1).squeeze(2)


def plain(device):
    return [(numbers(device, torch.complex64), numbers(device, torch.float32))]


def leaf(device, dtype):
    return numbers(device, dtype).clone().requires_grad_()


def one_with_history(device, dtype):
    return [(leaf(device, dtype).clone(),)]


def with_history(device):
    return [(leaf(device, torch.complex64).clone(), leaf(device, torch.float32).clone())]


def write(arguments, outputs):
    """Each side writes what the others are to show."""
    for output in outputs:
        output[(0,) * output.dim()].add_(1)
    for argument in arguments:
        argument[1, 2] = 9


def write_inputs(arguments, outputs):
    """In inference mode values of a dtype without gradients come out as a tensor that eager writes to there alone."""
    with torch.no_grad():
        for argument in arguments:
            argument[1, 2] = 9


def add(arguments, output):
    """Autograd sees the write where the types allow it: the gradient of what is computed of the input shows it."""
    output[(0,) * output.dim()].add_(1)
    arguments[0].square().real.sum().backward()


MODES = [
    pytest.param(plain, False, write, id="without_grad"),
    pytest.param(with_history, "no_grad", write_inputs, id="no_grad"),
    pytest.param(with_history, "inference_mode", write_inputs, id="inference_mode"),
]

VIEWS = [
    pytest.param(
        real,
        torch.complex64,
        expected(
            """in0: c64[2, 3]; view_as_real: f32[2, 3, 2] = aten.view_as_real(in0); select: f32[2, 3](6, 2) = aten.select(view_as_real, 2, 0); return (select,)"""
        ),
        id="real",
    ),
    pytest.param(
        imag,
        torch.complex64,
        expected(
            """in0: c64[2, 3]; view_as_real: f32[2, 3, 2] = aten.view_as_real(in0); select: f32[2, 3](6, 2) = aten.select(view_as_real, 2, 1); return (select,)"""
        ),
        id="imag",
    ),
    pytest.param(attribute, torch.complex64, expected("""in0: c64[2, 3]; return ()"""), id="attribute"),
    pytest.param(
        imag_of_a_row,
        torch.complex64,
        expected("""\
in0: c64[2, 3]
select: c64[3] = aten.select(in0, 0, 1)
view_as_real: f32[3, 2] = aten.view_as_real(select)
select_1: f32[3](2) = aten.select(view_as_real, 1, 1)
return (select_1,)
"""),
        id="imag_of_a_row",
    ),
    pytest.param(
        view_as_real,
        torch.complex64,
        expected("""in0: c64[2, 3]; view_as_real: f32[2, 3, 2] = aten.view_as_real(in0); return (view_as_real,)"""),
        id="view_as_real",
    ),
    pytest.param(
        view_as_complex,
        torch.float32,
        expected(
            """in0: f32[2, 3, 2]; view_as_complex: c64[2, 3] = aten.view_as_complex(in0); return (view_as_complex,)"""
        ),
        id="view_as_complex",
    ),
    pytest.param(
        floats,
        torch.complex64,
        expected("""in0: c64[2, 3]; view: f32[2, 6] = aten.view(in0, f32); return (view,)"""),
        id="floats",
    ),
    pytest.param(
        whole_numbers,
        torch.float32,
        expected("""in0: f32[2, 3, 2]; view: i32[2, 3, 2] = aten.view(in0, i32); return (view,)"""),
        id="whole_numbers",
    ),
    pytest.param(
        halves,
        torch.float32,
        expected("""in0: f32[2, 3, 2]; view: f16[2, 3, 4] = aten.view(in0, f16); return (view,)"""),
        id="halves",
    ),
]


@pytest.mark.parametrize(("calls", "inference", "after"), MODES)
@clause("aot_autograd.aliasing.view_of_input")
def test_other_type_without_gradients(stack, device, calls, inference, after):
    """What comes out without history shares memory with the input: a write to either shows in the other."""
    run = stack.run(Program.of(every_type, inference=inference, after=after), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: c64[2, 3]
in1: f32[2, 3, 2]
view_as_real: f32[2, 3, 2] = aten.view_as_real(in0)
select: f32[2, 3](6, 2) = aten.select(view_as_real, 2, 0)
view_as_real_1: f32[2, 3, 2] = aten.view_as_real(in0)
select_1: f32[2, 3](6, 2) = aten.select(view_as_real_1, 2, 1)
select_2: c64[3] = aten.select(in0, 0, 1)
view_as_real_2: f32[3, 2] = aten.view_as_real(select_2)
select_3: f32[3](2) = aten.select(view_as_real_2, 1, 1)
view_as_real_3: f32[2, 3, 2] = aten.view_as_real(in0)
view: f32[2, 6] = aten.view(in0, f32)
view_as_complex: c64[2, 3] = aten.view_as_complex(in1)
view_1: i32[2, 3, 2] = aten.view(in1, i32)
view_2: f16[2, 3, 4] = aten.view(in1, f16)
return (select, select_1, select_3, view_as_real_3, view, view_as_complex, view_1, view_2)
""")


@pytest.mark.parametrize(("program", "dtype", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_other_type_with_gradients(stack, device, program, dtype, graph):
    """A write to what comes out becomes part of the history of an input that has one, as far as its type has one."""
    run = stack.run(Program.of(program, after=add), partial(one_with_history, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
