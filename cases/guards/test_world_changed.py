"""The world around a program: the environment, threads, flags and generators that it reads."""

import os
import random

import pytest
import torch

from conformance import call, clause, expected, needs


def environment_item(x):
    return x * int(os.environ["CONFORMANCE_FACTOR"])


def environment_get(x):
    return x * 2 if os.environ.get("CONFORMANCE_FACTOR", "1") == "2" else x + 1


def environment_getenv(x):
    return x * 2 if os.getenv("CONFORMANCE_FACTOR") == "2" else x + 1


def environment_member(x):
    return x * 2 if "CONFORMANCE_SWITCH" in os.environ else x + 1


def flag_of_backend(x):
    return x * 2 if torch.backends.cudnn.benchmark else x + 1


def python_number(x):
    return x * random.randint(1, 1000)


def python_float(x):
    return x + random.random()


def torch_number(x):
    return x + torch.rand(3, device=x.device)


def initial_seed(x):
    return x + torch.initial_seed() % 1000


def set_variable(name, value):
    def step(_):
        os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)

    return step


def set_benchmark(value):
    return lambda _: setattr(torch.backends.cudnn, "benchmark", value)


def alternating(first, second):
    def calls(device):
        return [call(torch.arange(3.0, device=device), before=step) for step in (first, second, first)]

    return calls


def seeded(seed):
    def step(_):
        random.seed(seed)
        torch.manual_seed(seed)

    return step


FACTOR = alternating(set_variable("CONFORMANCE_FACTOR", "2"), set_variable("CONFORMANCE_FACTOR", "3"))
SWITCH = alternating(set_variable("CONFORMANCE_SWITCH", None), set_variable("CONFORMANCE_SWITCH", "1"))
SEEDS = alternating(seeded(1), seeded(2))
VARIABLES = [
    pytest.param(
        environment_item, FACTOR, expected("""global os.environ._data[b'CONFORMANCE_FACTOR'] == b'2'"""), id="item"
    ),
    pytest.param(
        environment_get,
        FACTOR,
        expected("""global os.environ._data[b'CONFORMANCE_FACTOR'] == b'2'"""),
        id="get",
    ),
    pytest.param(
        environment_getenv, FACTOR, expected("""global os.environ._data[b'CONFORMANCE_FACTOR'] == b'2'"""), id="getenv"
    ),
    pytest.param(environment_member, SWITCH, expected(""""""), id="member"),
]
FLAGS = [
    pytest.param(
        flag_of_backend,
        alternating(set_benchmark(False), set_benchmark(True)),
        expected("""global torch.backends.cudnn.benchmark == False"""),
        id="benchmark",
    ),
]
GENERATORS = [
    pytest.param(python_number, expected("""mul"""), id="python_integer"),
    pytest.param(python_float, expected("""add"""), id="python_float"),
    pytest.param(torch_number, expected("""rand; add"""), id="torch"),
    pytest.param(initial_seed, expected("""add"""), id="initial_seed"),
]


@pytest.mark.parametrize(("program", "calls", "reason"), VARIABLES)
@needs("recompiles")
@clause("guards.world.environment")
def test_environment(stack, device, program, calls, reason):
    """A call with another environment, between two with the first, sees its own."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "calls", "reason"), FLAGS)
@needs("recompiles")
@clause("guards.world.state_of_torch")
def test_flags(stack, device, program, calls, reason):
    """A call that reads a flag of torch's sees what it is at that call."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "operators"), GENERATORS)
@needs("recompiles")
@clause("guards.world.state_of_torch")
def test_generators(stack, device, program, operators):
    """A call after the generators were seeded anew draws the numbers of that seed."""
    run = stack.run(program, SEEDS)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect(operators)
