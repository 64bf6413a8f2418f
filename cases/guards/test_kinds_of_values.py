"""Strings, enum members, types, dtypes and None among the arguments: another one between two equal ones."""

import enum

import pytest
import torch

from conformance import call, clause, expected, needs


class Kind(enum.Enum):
    DOUBLE = 2
    TRIPLE = 3


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 3


class Bits(enum.Flag):
    ONE = 1
    TWO = 2


class Two:
    factor = 2


class Three:
    factor = 3


def choose_by_string(x, value):
    return x * 2 if value == "double" else x * 3


def choose_by_letter(x, value):
    return x * 2 if value.startswith("d") else x * 3


def choose_by_member(x, value):
    return x * 2 if value is Kind.DOUBLE else x * 3


def multiply_by_value(x, value):
    return x * value.value


def multiply(x, value):
    return x * int(value)


def choose_by_flag(x, value):
    return x * 2 if Bits.ONE in value else x * 3


def choose_by_none(x, value):
    return x * 2 if value is None else x + value


def choose_by_class(x, value):
    return x * value.factor


def choose_by_instance(x, value):
    return x * 2 if isinstance(value, Two) else x * 3


def convert(x, value):
    return x.to(value) * 2


def choose_by_bytes(x, value):
    return x * 2 if value == b"double" else x * 3


def multiply_by_complex(x, value):
    return x * value.real


def choose_by_truth(x, value):
    return x * 2 if value else x * 3


def choose_by_ellipsis(x, value):
    return x[value]


def alternating(first, second):
    def calls(device):
        x = torch.arange(3.0, device=device)
        return [call(x, value) for value in (first, second, first)]

    return calls


def none_and_a_tensor(device):
    return alternating(None, torch.ones(3, device=device))(device)


def fresh(first, second):
    def calls(device):
        x = torch.arange(3.0, device=device)
        return [call(x, make()) for make in (first, second, first)]

    return calls


VALUES = [
    pytest.param(choose_by_string, alternating("double", "triple"), expected("""value == 'double'"""), id="string"),
    pytest.param(
        choose_by_letter, alternating("double", "triple"), expected("""value == 'double'"""), id="method_of_string"
    ),
    pytest.param(choose_by_bytes, alternating(b"double", b"triple"), expected("""value == b'double'"""), id="bytes"),
    pytest.param(choose_by_truth, alternating("", "a"), expected("""value == ''"""), id="empty_string"),
    pytest.param(
        choose_by_member,
        alternating(Kind.DOUBLE, Kind.TRIPLE),
        expected("""identity of value"""),
        id="enum",
    ),
    pytest.param(
        multiply_by_value,
        alternating(Kind.DOUBLE, Kind.TRIPLE),
        expected("""identity of value"""),
        id="value_of_enum",
    ),
    pytest.param(multiply, alternating(Level.LOW, Level.HIGH), expected("""identity of value"""), id="int_enum"),
    pytest.param(choose_by_flag, alternating(Bits.ONE, Bits.TWO), expected("""identity of value"""), id="flag"),
    pytest.param(
        choose_by_flag,
        alternating(Bits.ONE, Bits.ONE | Bits.TWO),
        expected("""identity of value"""),
        id="flags_joined",
    ),
    pytest.param(choose_by_none, alternating(None, 2), expected("""value is None"""), id="none_to_number"),
    pytest.param(choose_by_none, none_and_a_tensor, expected("""value is None"""), id="none_to_tensor"),
    pytest.param(choose_by_class, alternating(Two, Three), expected("""identity of value"""), id="class"),
    pytest.param(choose_by_instance, fresh(Two, Three), expected("""type of value"""), id="class_of_object"),
    pytest.param(convert, alternating(torch.float64, torch.int64), expected("""value == torch.float64"""), id="dtype"),
    pytest.param(multiply_by_complex, alternating(2j + 1, 2j + 3), expected("""value == (1+2j)"""), id="complex"),
    pytest.param(choose_by_ellipsis, alternating(..., None), expected("""value == Ellipsis"""), id="ellipsis"),
]


@pytest.mark.parametrize(("program", "calls", "reason"), VALUES)
@needs("recompiles")
@clause("guards.containers.kinds_of_values")
def test_other_value(stack, device, program, calls, reason):
    """A call with another value between two with equal ones compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
