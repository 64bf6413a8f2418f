"""Modes and settings of torch's that a call is made under: changed between calls."""

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


def inference_mode_inside(x):
    return x * 2 if torch.is_inference_mode_enabled() else x + 1


def product(x):
    return x @ x


def autocast_inside(x):
    return x * 2 if torch.is_autocast_enabled("cpu") else x + 1


def makes_tensors(x):
    return torch.ones(2, device=x.device) * 2, torch.tensor([1.0, 2.0], device=x.device) * 2, x + 1


def default_dtype_inside(x):
    return x * 2 if torch.get_default_dtype() is torch.float32 else x + 1


def deterministic_inside(x):
    return x * 2 if torch.are_deterministic_algorithms_enabled() else x + 1


def precision_inside(x):
    return x * 2 if torch.get_float32_matmul_precision() == "highest" else x + 1


def threads(x):
    return x * torch.get_num_threads()


def sdpa(x):
    return x * 2 if torch.backends.cuda.math_sdp_enabled() else x + 1


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


def default_dtype(dtype):
    return lambda _: torch.set_default_dtype(dtype)


def deterministic(enabled):
    return lambda _: torch.use_deterministic_algorithms(enabled, warn_only=True)


def precision(value):
    return lambda _: torch.set_float32_matmul_precision(value)


def set_threads(count):
    return lambda _: torch.set_num_threads(count)


def set_math(value):
    return lambda _: torch.backends.cuda.enable_math_sdp(value)


entered = []


def enter(make):
    def step(_):
        entered.append(make())
        entered[-1].__enter__()

    return step


def leave(_):
    while entered:
        entered.pop().__exit__(None, None, None)


def alternating(first, second, requires_grad=False):
    def calls(device):
        x = torch.eye(2, device=device, requires_grad=requires_grad)
        return [call(x, before=step) for step in (first, second, first)]

    return calls


GRADIENTS = [
    pytest.param(double, alternating(gradients(True), gradients(False), True), expected("""global state changed: grad_mode"""), id="grad_mode"),
    pytest.param(grad_mode_inside, alternating(gradients(True), gradients(False)), expected("""global state changed: grad_mode"""), id="is_read"),
    pytest.param(double, alternating(leave, enter(torch.inference_mode)), expected("""global state changed: grad_mode"""), id="inference_mode"),
]
AUTOCAST = [
    pytest.param(product, alternating(cast(False), cast(True)), expected("""global state changed: autocast(cpu)_enabled autocast(cuda)_enabled"""), id="on"),
    pytest.param(product, alternating(cast(True), cast(True, torch.float16)), expected("""global state changed: autocast(cpu)_dtype autocast(cuda)_dtype"""), id="other_dtype"),
    pytest.param(autocast_inside, alternating(cast(False), cast(True)), expected("""global state changed: autocast(cpu)_enabled autocast(cuda)_enabled"""), id="is_read"),
]
DEFAULTS = [
    pytest.param(
        makes_tensors, alternating(default_dtype(torch.float32), default_dtype(torch.float64)), expected("""global state changed: default_dtype"""), id="dtype"
    ),
    pytest.param(
        default_dtype_inside, alternating(default_dtype(torch.float32), default_dtype(torch.float64)), expected("""global state changed: default_dtype"""), id="dtype_is_read"
    ),
]
SETTINGS = [
    pytest.param(
        deterministic_inside, alternating(deterministic(False), deterministic(True)), expected("""global state changed: deterministic_algorithms"""), id="deterministic"
    ),
]
READ = [
    pytest.param(
        inference_mode_inside, alternating(leave, enter(torch.inference_mode)), expected("""add; mul"""), id="inference_mode"
    ),
    pytest.param(
        precision_inside, alternating(precision("highest"), precision("high")), expected("""mul; add"""), id="precision"
    ),
    pytest.param(threads, alternating(set_threads(1), set_threads(2)), expected("""mul; mul"""), id="threads"),
    pytest.param(sdpa, alternating(set_math(True), set_math(False)), expected("""mul; add"""), id="math_sdp"),
]
FUNCTIONS = [
    pytest.param(sine, alternating(leave, enter(Negated)), expected(""""""), id="entered"),
    pytest.param(sine, alternating(enter(Negated), leave), expected(""""""), id="left"),
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
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "calls", "reason"), DEFAULTS)
@needs("recompiles")
@clause("guards.modes.defaults")
def test_other_default(stack, device, program, calls, reason):
    """A call under another default, between two under the first, compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "calls", "reason"), SETTINGS)
@needs("recompiles")
@clause("guards.modes.settings")
def test_other_setting(stack, device, program, calls, reason):
    """A call under another setting, between two under the first, compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "calls", "operators"), READ)
@needs("recompiles", "graph_breaks")
@clause("guards.modes.settings")
def test_setting_is_read(stack, device, program, calls, operators):
    """A setting that a program reads, and breaks its graph for, is what it is at each call."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=None, graph_breaks=None)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize(("program", "calls", "reason"), FUNCTIONS)
@needs("recompiles")
@clause("guards.modes.torch_functions")
def test_other_function_mode(stack, device, program, calls, reason):
    """A call under a torch function mode, between two without or the other way round, compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
