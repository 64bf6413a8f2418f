"""Transposed inputs: an output with the dimensions of an input in another order is a view of it."""

import pytest
import torch

from conformance import Program, clause, expected


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


def plain(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]


def with_history(device):
    leaf = torch.arange(6.0, device=device).requires_grad_()
    return [(leaf.clone().reshape(2, 3),)]


def write(arguments, output):
    """Each side writes one element that the other is to show."""
    with torch.no_grad():
        output[(0,) * output.dim()].fill_(-7)
        arguments[0][1, 2] = 9


def scale(arguments, output):
    """Autograd sees the write: the gradient of what is computed of the input shows it."""
    output[(0,) * output.dim()].mul_(5)
    arguments[0].sum().backward()


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
        expected(
            """in0: f32[2, 3]; t: f32[3, 2](1, 3) = aten.t(in0); unsqueeze: f32[1, 3, 2](3, 1, 3) = aten.unsqueeze(t, 0); transpose: f32[1, 2, 3] = aten.transpose(unsqueeze, 1, 2); return (transpose,)"""
        ),
        id="transpose_in_steps",
    ),
]


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input")
def test_transposed_input_without_gradients(stack, device, program, graph):
    """What comes out shares memory with an input that requires no grad: a write to either shows in the other."""
    run = stack.run(Program.of(program, after=write), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)


@pytest.mark.parametrize("inference", ["no_grad", "inference_mode"])
@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input")
def test_transposed_input_with_gradients_off(stack, device, program, graph, inference):
    """What comes out shares memory with an input that has history, and has no history itself."""
    run = stack.run(Program.of(program, inference=inference, after=write), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_transposed_input_with_gradients(stack, device, program, graph):
    """A write to what comes out becomes part of the history of an input that has one."""
    run = stack.run(Program.of(program, after=scale), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
