"""Reshaped inputs: an output that arranges an input's elements in other dimensions is a view of it."""

import pytest
import torch

from conformance import Program, clause, expected


def view(x):
    return x.view(6)


def view_as(x):
    return x.view_as(x.unsqueeze(0))


def reshape(x):
    return x.reshape(3, 2)


def flatten(x):
    return x.flatten()


def unflatten(x):
    return x.unflatten(1, (3, 1))


def unsqueeze(x):
    return x.unsqueeze(1)


def new_axes(x):
    return x[None, :, None]


def squeeze(x):
    return x.unsqueeze(0).squeeze(0)


def expand(x):
    return x.expand(2, 2, 3)


def broadcast_to(x):
    return torch.broadcast_to(x, (4, 2, 3))


def as_strided(x):
    return x.as_strided((2, 2), (1, 2), 1)


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
    pytest.param(view, expected("""in0: f32[2, 3]; view: f32[6] = aten.view(in0, [6]); return (view,)"""), id="view"),
    pytest.param(
        view_as,
        expected("""in0: f32[2, 3]; view: f32[1, 2, 3] = aten.view(in0, [1, 2, 3]); return (view,)"""),
        id="view_as",
    ),
    pytest.param(
        reshape, expected("""in0: f32[2, 3]; view: f32[3, 2] = aten.view(in0, [3, 2]); return (view,)"""), id="reshape"
    ),
    pytest.param(
        flatten, expected("""in0: f32[2, 3]; view: f32[6] = aten.view(in0, [6]); return (view,)"""), id="flatten"
    ),
    pytest.param(
        unflatten,
        expected("""in0: f32[2, 3]; view: f32[2, 3, 1] = aten.view(in0, [2, 3, 1]); return (view,)"""),
        id="unflatten",
    ),
    pytest.param(
        unsqueeze,
        expected("""in0: f32[2, 3]; unsqueeze: f32[2, 1, 3] = aten.unsqueeze(in0, 1); return (unsqueeze,)"""),
        id="unsqueeze",
    ),
    pytest.param(
        new_axes,
        expected(
            """in0: f32[2, 3]; unsqueeze: f32[1, 2, 3] = aten.unsqueeze(in0, 0); unsqueeze_1: f32[1, 2, 1, 3] = aten.unsqueeze(unsqueeze, 2); return (unsqueeze_1,)"""
        ),
        id="new_axes",
    ),
    pytest.param(
        squeeze,
        expected(
            """in0: f32[2, 3]; unsqueeze: f32[1, 2, 3] = aten.unsqueeze(in0, 0); squeeze: f32[2, 3] = aten.squeeze(unsqueeze, 0); return (squeeze,)"""
        ),
        id="squeeze",
    ),
    pytest.param(
        expand,
        expected("""in0: f32[2, 3]; expand: f32[2, 2, 3](0, 3, 1) = aten.expand(in0, [2, 2, 3]); return (expand,)"""),
        id="expand",
    ),
    pytest.param(
        broadcast_to,
        expected("""in0: f32[2, 3]; expand: f32[4, 2, 3](0, 3, 1) = aten.expand(in0, [4, 2, 3]); return (expand,)"""),
        id="broadcast_to",
    ),
    pytest.param(
        as_strided,
        expected(
            """in0: f32[2, 3]; as_strided: f32[2, 2](1, 2) = aten.as_strided(in0, [2, 2], [1, 2], 1); return (as_strided,)"""
        ),
        id="as_strided",
    ),
]


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input")
def test_reshaped_input_without_gradients(stack, device, program, graph):
    """What comes out shares memory with an input that requires no grad: a write to either shows in the other."""
    run = stack.run(Program.of(program, after=write), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)


@pytest.mark.parametrize("inference", ["no_grad", "inference_mode"])
@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input")
def test_reshaped_input_with_gradients_off(stack, device, program, graph, inference):
    """What comes out shares memory with an input that has history, and has no history itself."""
    run = stack.run(Program.of(program, inference=inference, after=write), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_reshaped_input_with_gradients(stack, device, program, graph):
    """A write to what comes out becomes part of the history of an input that has one."""
    run = stack.run(Program.of(program, after=scale), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
