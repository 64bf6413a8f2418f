"""Arguments of classes that override what Python asks of a value: class, iteration."""

import pytest
import torch

from conformance import clause, needs


class Disguised:
    """Says of itself that it is a number."""

    @property
    def __class__(self):
        return int


class Odd(set):
    """What it gives in turn is not what is in it."""

    def __iter__(self):
        return iter([9])


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


def disguised(x, held):
    return double(x), isinstance(held, int), type(held) is int, held.__class__ is int


def members(x, held):
    return double(x), 9 in held, len(held)


def odd():
    return Odd({1, 2})


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


ROWS = [
    pytest.param(disguised, Disguised, id="class_by_a_property"),
    pytest.param(members, odd, id="set_with_an_iter_of_its_own"),
]


@pytest.mark.parametrize(("program", "make"), ROWS)
@needs("graph_breaks", "python_objects")
@clause("python.values.types_and_comparisons")
def test_asked_of_an_argument(stack, device, program, make):
    """An object whose class overrides what Python asks of it is asked as in eager."""
    run = stack.run(program, on(make))

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
