"""Transposed inputs: an output with the dimensions of an input in another order is a view of it."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def transpose(x):
    return x.transpose(0, 1)


def t(x):
    return x.t()


def adjoint(x):
    return x.adjoint()


def permute(x):
    return x.permute(1, 0)


def movedim(x):
    return x.movedim(0, 1)


def swapaxes(x):
    return x.swapaxes(-1, 0)


def transpose_in_steps(x):
    return x.t().unsqueeze(0).transpose(1, 2)


def every_order(x):
    """With no gradients nothing ties one view to another, and one graph has them all."""
    return transpose(x), t(x), adjoint(x), permute(x), movedim(x), swapaxes(x), transpose_in_steps(x)


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
        transpose,
        expected("""in0: f32[2, 3]; transpose: f32[3, 2](1, 3) = aten.transpose(in0, 0, 1); return (transpose,)"""),
        id="transpose",
    ),
    pytest.param(t, expected("""in0: f32[2, 3]; t: f32[3, 2](1, 3) = aten.t(in0); return (t,)"""), id="t"),
    pytest.param(
        adjoint,
        expected("""in0: f32[2, 3]; transpose: f32[3, 2](1, 3) = aten.transpose(in0, -2, -1); return (transpose,)"""),
        id="adjoint",
    ),
    pytest.param(
        permute,
        expected("""in0: f32[2, 3]; permute: f32[3, 2](1, 3) = aten.permute(in0, [1, 0]); return (permute,)"""),
        id="permute",
    ),
    pytest.param(
        movedim,
        expected("""in0: f32[2, 3]; permute: f32[3, 2](1, 3) = aten.permute(in0, [1, 0]); return (permute,)"""),
        id="movedim",
    ),
    pytest.param(
        swapaxes,
        expected("""in0: f32[2, 3]; transpose: f32[3, 2](1, 3) = aten.transpose(in0, -1, 0); return (transpose,)"""),
        id="swapaxes",
    ),
    pytest.param(
        transpose_in_steps,
        expected("""\
in0: f32[2, 3]
t: f32[3, 2](1, 3) = aten.t(in0)
unsqueeze: f32[1, 3, 2](3, 1, 3) = aten.unsqueeze(t, 0)
transpose: f32[1, 2, 3] = aten.transpose(unsqueeze, 1, 2)
return (transpose,)
"""),
        id="transpose_in_steps",
    ),
]


@pytest.mark.parametrize(("calls", "inference"), MODES)
@clause("aot_autograd.aliasing.view_of_input")
def test_transposed_input_without_gradients(stack, device, calls, inference):
    """What comes out without history shares memory with the input: a write to either shows in the other."""
    run = stack.run(Program.of(every_order, inference=inference, after=write), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
transpose: f32[3, 2](1, 3) = aten.transpose(in0, 0, 1)
t: f32[3, 2](1, 3) = aten.t(in0)
transpose_1: f32[3, 2](1, 3) = aten.transpose(in0, -2, -1)
permute: f32[3, 2](1, 3) = aten.permute(in0, [1, 0])
permute_1: f32[3, 2](1, 3) = aten.permute(in0, [1, 0])
transpose_2: f32[3, 2](1, 3) = aten.transpose(in0, -1, 0)
t_1: f32[3, 2](1, 3) = aten.t(in0)
unsqueeze: f32[1, 3, 2](3, 1, 3) = aten.unsqueeze(t_1, 0)
transpose_3: f32[1, 2, 3] = aten.transpose(unsqueeze, 1, 2)
return (transpose, t, transpose_1, permute, permute_1, transpose_2, transpose_3)
""")


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_transposed_input_with_gradients(stack, device, program, graph):
    """A write to what comes out becomes part of the history of an input that has one."""
    run = stack.run(Program.of(program, after=scale), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
