"""Globals that a program reads: each call sees what they hold at that call."""

import pytest
import torch

from conformance import call, clause, expected, needs

factor, name, option, weight, shift, flags, table = 2.0, "add", None, None, None, [1], {}


def double(x):
    return x * 2


def triple(x):
    return x * 3


function = double


def multiply(x):
    return x * factor


def choose_by_name(x):
    return x + 1 if name == "add" else x * 2


def choose_by_presence(x):
    return x + 1 if option is None else x * 2


def add_weight(x):
    return x + weight


def through_a_callee(x):
    return multiply(x) + 1


def count_flags(x):
    return x * len(flags)


def read_table(x):
    return x * table["factor"]


def read_if_there(x):
    return x * globals().get("added", 1)


def call_function(x):
    return function(x)


def set_globals(values, device):
    def before(_):
        globals().update({key: torch.tensor(v, device=device) if key == "weight" else v for key, v in values.items()})

    return before


def alternating(first, second):
    def calls(device):
        x = torch.arange(3.0, device=device)
        return [call(x, before=set_globals(values, device)) for values in (first, second, first)]

    return calls


def written_in_place(device):
    tensor = torch.ones(3, device=device)

    def replace(_):
        global weight
        weight = tensor

    def write(_):
        tensor.mul_(5)

    return [call(torch.arange(3.0, device=device), before=step) for step in (replace, write, write)]


def taken_away(device):
    def put(_):
        globals()["shift"] = 2

    def take(_):
        del globals()["shift"]

    return [call(torch.arange(3.0, device=device), before=step) for step in (put, take)]


def add_shift(x):
    return x + shift


CHANGES = [
    pytest.param(multiply, {"factor": 2.0}, {"factor": -3.0}, expected("""global factor == 2.0"""), id="number"),
    pytest.param(multiply, {"factor": 2.0}, {"factor": 2}, expected("""global factor == 2.0"""), id="type_of_a_number"),
    pytest.param(
        through_a_callee,
        {"factor": 2.0},
        {"factor": 4.0},
        expected("""global factor == 2.0"""),
        id="of_a_callee",
    ),
    pytest.param(
        choose_by_name,
        {"name": "add"},
        {"name": "multiply"},
        expected("""global name == 'add'"""),
        id="string",
    ),
    pytest.param(
        choose_by_presence,
        {"option": None},
        {"option": 1},
        expected("""global option is None"""),
        id="none",
    ),
    pytest.param(
        add_weight,
        {"weight": [1.0, 2.0, 3.0]},
        {"weight": [[1.0], [2.0]]},
        expected("""rank of global weight: expected 1, actual 2"""),
        id="tensor",
    ),
    pytest.param(
        count_flags,
        {"flags": [1]},
        {"flags": [1, 2]},
        expected("""len(global flags) == 1"""),
        id="length_of_a_list",
    ),
    pytest.param(
        read_table,
        {"table": {"factor": 2}},
        {"table": {"factor": 3}},
        expected("""global table['factor'] == 2"""),
        id="entry",
    ),
    pytest.param(
        call_function,
        {"function": double},
        {"function": triple},
        expected("""identity of global function.__code__"""),
        id="function",
    ),
]


@pytest.mark.parametrize(("program", "first", "second", "reason"), CHANGES)
@needs("recompiles")
@clause("guards.globals.replaced")
def test_global_is_replaced(stack, device, program, first, second, reason):
    """A call between two others that finds another value in a global compiles once more and is right."""
    run = stack.run(program, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@needs("recompiles")
@clause("guards.globals.written_in_place")
def test_global_tensor_is_written(stack, device):
    """A global tensor that is written between calls is read anew by what was compiled for its first values."""
    run = stack.run(add_weight, written_in_place)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""add""")


@needs("recompiles")
@clause("guards.globals.deleted")
def test_global_is_deleted(stack, device):
    """A global that is gone in the second call is a NameError there, as in eager."""
    run = stack.run(add_shift, taken_away)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=None, graph_breaks=None)
    run.error.expect("""NameError: name 'shift' is not defined""")
