"""Modes that a call is made under: gradients, inference, autocast, torch functions."""

import pytest
import torch
from torch.overrides import TorchFunctionMode

from conformance import call, clause, expected, needs


class Negated(TorchFunctionMode):
    """Every sine is negated."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return -out if func is torch.sin else out


def double(x):
    return x * 2


def grad_mode_inside(x):
    return x * 2 if torch.is_grad_enabled() else x + 1


def product(x):
    return x @ x


def autocast_inside(x):
    return x * 2 if torch.is_autocast_enabled("cpu") else x + 1


def sine(x):
    return torch.sin(x) * 2


def cast(enabled, dtype=torch.bfloat16):
    def step(_):
        torch.set_autocast_enabled("cpu", enabled)
        torch.set_autocast_enabled("cuda", enabled)
        torch.set_autocast_dtype("cpu", dtype)
        torch.set_autocast_dtype("cuda", dtype)

    return step


def gradients(enabled):
    return lambda _: torch._C._set_grad_enabled(enabled)


entered = []


def enter(make):
    def step(_):
        entered.append(make())
        entered[-1].__enter__()

    return step


def leave(_):
    while entered:
        entered.pop().__exit__(None, None, None)


def in_turn(*steps):
    return lambda device: [call(torch.eye(2, device=device), before=step) for step in steps]


def alternating(first, second, requires_grad=False):
    def calls(device):
        x = torch.eye(2, device=device, requires_grad=requires_grad)
        return [call(x, before=step) for step in (first, second, first)]

    return calls


GRADIENTS = [
    pytest.param(
        double,
        alternating(gradients(True), gradients(False), True),
        expected("""global state changed: grad_mode"""),
        id="grad_mode",
    ),
    pytest.param(
        grad_mode_inside,
        alternating(gradients(True), gradients(False)),
        expected("""global state changed: grad_mode"""),
        id="is_read",
    ),
    pytest.param(
        double,
        alternating(leave, enter(torch.inference_mode)),
        expected("""global state changed: grad_mode"""),
        id="inference_mode",
    ),
]

AUTOCAST = [
    pytest.param(
        product,
        alternating(cast(False), cast(True)),
        expected("""global state changed: autocast(cpu)_enabled autocast(cuda)_enabled"""),
        id="on",
    ),
    pytest.param(
        product,
        alternating(cast(True), cast(True, torch.float16)),
        expected("""global state changed: autocast(cpu)_dtype autocast(cuda)_dtype"""),
        id="other_dtype",
    ),
    pytest.param(
        autocast_inside,
        alternating(cast(False), cast(True)),
        expected("""global state changed: autocast(cpu)_enabled autocast(cuda)_enabled"""),
        id="is_read",
    ),
]

FUNCTIONS = [
    pytest.param(
        sine, alternating(leave, enter(Negated)), expected("""___check_torch_function_mode_stack()"""), id="entered"
    ),
    pytest.param(
        sine, in_turn(enter(Negated), leave, leave), expected("""___check_torch_function_mode_stack()"""), id="left"
    ),
]


@pytest.mark.parametrize(("program", "calls", "reason"), GRADIENTS)
@needs("recompiles", "training")
@clause("guards.modes.gradients")
def test_other_gradient_mode(stack, device, program, calls, reason):
    """A call under another gradient mode, between two under the first, compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "calls", "reason"), AUTOCAST)
@needs("recompiles")
@clause("guards.modes.autocast")
def test_other_autocast(stack, device, program, calls, reason):
    """A call under autocast, or under another dtype of it, compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason, since="2.11")
    # Earlier, the reason does not say what of autocast has changed.
    run.recompiles.expect("""global state changed: autocast""", until="2.11")


@pytest.mark.parametrize(("program", "calls", "reason"), FUNCTIONS)
@needs("recompiles")
@clause("guards.modes.torch_functions")
def test_other_function_mode(stack, device, program, calls, reason):
    """A call under a torch function mode, between two without or the other way round, compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
