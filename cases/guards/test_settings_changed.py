"""Settings of torch's that a call is made under: defaults, determinism, precision."""

import pytest
import torch

from conformance import call, clause, expected, needs


def inference_mode_inside(x):
    return x * 2 if torch.is_inference_mode_enabled() else x + 1


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


DEFAULTS = [
    pytest.param(
        makes_tensors,
        alternating(default_dtype(torch.float32), default_dtype(torch.float64)),
        expected("""global state changed: default_dtype"""),
        id="dtype",
    ),
    pytest.param(
        default_dtype_inside,
        alternating(default_dtype(torch.float32), default_dtype(torch.float64)),
        expected("""global state changed: default_dtype"""),
        id="dtype_is_read",
    ),
]

SETTINGS = [
    pytest.param(
        deterministic_inside,
        alternating(deterministic(False), deterministic(True)),
        expected("""global state changed: deterministic_algorithms"""),
        id="deterministic",
    ),
]

READ = [
    pytest.param(
        inference_mode_inside,
        alternating(leave, enter(torch.inference_mode)),
        expected("""add; mul"""),
        id="inference_mode",
    ),
    pytest.param(
        precision_inside, alternating(precision("highest"), precision("high")), expected("""mul; add"""), id="precision"
    ),
    pytest.param(threads, alternating(set_threads(1), set_threads(2)), expected("""mul; mul"""), id="threads"),
    pytest.param(sdpa, alternating(set_math(True), set_math(False)), expected("""mul; add"""), id="math_sdp"),
]


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
