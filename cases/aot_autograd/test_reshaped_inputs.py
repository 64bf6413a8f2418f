"""Reshaped inputs: an output that arranges an input's elements in other dimensions is a view of it."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


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


def every_view(x):
    """With no gradients nothing ties one view to another, and one graph has them all."""
    return (
        view(x),
        view_as(x),
        reshape(x),
        flatten(x),
        unflatten(x),
        unsqueeze(x),
        new_axes(x),
        squeeze(x),
        expand(x),
        broadcast_to(x),
        as_strided(x),
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


@pytest.mark.parametrize(("calls", "inference"), MODES)
@clause("aot_autograd.aliasing.view_of_input")
def test_reshaped_input_without_gradients(stack, device, calls, inference):
    """What comes out without history shares memory with the input: a write to either shows in the other."""
    run = stack.run(Program.of(every_view, inference=inference, after=write), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
view: f32[6] = aten.view(in0, [6])
view_1: f32[1, 2, 3] = aten.view(in0, [1, 2, 3])
view_2: f32[3, 2] = aten.view(in0, [3, 2])
view_3: f32[6] = aten.view(in0, [6])
view_4: f32[2, 3, 1] = aten.view(in0, [2, 3, 1])
unsqueeze: f32[2, 1, 3] = aten.unsqueeze(in0, 1)
unsqueeze_1: f32[1, 2, 3] = aten.unsqueeze(in0, 0)
unsqueeze_2: f32[1, 2, 1, 3] = aten.unsqueeze(unsqueeze_1, 2)
unsqueeze_3: f32[1, 2, 3] = aten.unsqueeze(in0, 0)
squeeze: f32[2, 3] = aten.squeeze(unsqueeze_3, 0)
expand: f32[2, 2, 3](0, 3, 1) = aten.expand(in0, [2, 2, 3])
expand_1: f32[4, 2, 3](0, 3, 1) = aten.expand(in0, [4, 2, 3])
as_strided: f32[2, 2](1, 2) = aten.as_strided(in0, [2, 2], [1, 2], 1)
return (view, view_1, view_2, view_3, view_4, unsqueeze, unsqueeze_2, squeeze, expand, expand_1, as_strided)
""")


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_reshaped_input_with_gradients(stack, device, program, graph):
    """A write to what comes out becomes part of the history of an input that has one."""
    run = stack.run(Program.of(program, after=scale), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
