"""Hooks of tensors, parameters and modules: they run when eager's run and change what eager's change."""

import pytest
import torch

from conformance import clause, expected

SEEN = []


def record(gradient):
    SEEN.append(gradient.clone())


def triple(gradient):
    return gradient * 3


def record_parameter(parameter):
    """Runs when the gradient has been accumulated."""
    SEEN.append(parameter.grad.clone())


def scale(x):
    return (x * 2).sum(0) * 3


def hook_on_input(x):
    x.register_hook(triple)
    return x * 2


def hook_on_intermediate(x):
    y = x * 2
    y.register_hook(triple)
    return y * y


def hook_on_output(x):
    y = x * 2
    y.register_hook(triple)
    return y


def two_hooks(x):
    """The second sees what the first made of the gradient."""
    y = x * 2
    y.register_hook(triple)
    y.register_hook(torch.neg)
    return y + 1


def removed_hook(x):
    y = x * 2
    y.register_hook(triple).remove()
    return y + 1


def plain(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3).requires_grad_(),)]


def with_recording_hook(device):
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
    x.register_hook(record)
    return [(x,)]


def with_changing_hook(device):
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
    x.register_hook(triple)
    return [(x,)]


def with_hook_after_accumulation(device):
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
    x.register_post_accumulate_grad_hook(record_parameter)
    return [(x,)]


def with_history_and_hook(device):
    """The hook is on a tensor that is no leaf: its own leaf gets the changed gradient."""
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_().clone()
    x.register_hook(triple)
    return [(x,)]


def seen(arguments, outputs):
    return list(SEEN)


def hook_and_backward(arguments, output):
    """A hook on what came out sees the gradient that comes in."""
    output.register_hook(record)
    output.register_hook(triple)
    output.sum().backward()
    return list(SEEN)


PROGRAMS = [
    pytest.param(
        hook_on_input,
        expected("""aten.mul"""),
        expected("""aten.mul"""),
        id="on_input",
    ),
    pytest.param(
        hook_on_intermediate,
        expected("""aten.mul; aten.mul"""),
        expected("""aten.mul; aten.view; aten.mul"""),
        id="on_intermediate",
    ),
    pytest.param(
        hook_on_output,
        expected("""aten.mul"""),
        expected("""aten.mul; aten.view"""),
        id="on_output",
    ),
    pytest.param(
        two_hooks,
        expected("""aten.mul; aten.add"""),
        expected("""aten.mul; aten.view; aten.view; aten.add"""),
        id="two",
    ),
]


@pytest.mark.parametrize(("program", "operators", "earlier"), PROGRAMS)
@clause("aot_autograd.hooks.fire")
def test_hooks_of_the_program(stack, device, program, operators, earlier):
    """A hook that the program registers changes the gradient as in eager."""
    run = stack.run(program, plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators, since="2.13")
    # Earlier, the tensor that a hook is on is passed through a function of its own, which returns a view of it.
    run.forward.operators.expect(earlier, until="2.13")


@pytest.mark.parametrize(
    "calls", [with_recording_hook, with_changing_hook, with_hook_after_accumulation, with_history_and_hook]
)
@clause("aot_autograd.hooks.fire")
def test_hooks_of_the_input(stack, device, calls):
    """A hook that an input has before the call runs once in backward and sees and changes the gradient as in eager."""
    run = stack.run(scale, calls, after=seen)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.operators.expect("""\
aten.mul
aten.unsqueeze
aten.expand
aten.mul
""")


@clause("aot_autograd.hooks.fire")
def test_hooks_of_the_output(stack, device):
    """A hook that the caller registers on an output runs in backward."""
    run = stack.run(scale, plain, backward=False, after=hook_and_backward)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.mul
aten.sum
aten.mul
""")


@clause("aot_autograd.hooks.fire")
def test_removed_hook(stack, device):
    """A hook that the program registers and removes does not run."""
    run = stack.run(removed_hook, plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
mul
add
""")
