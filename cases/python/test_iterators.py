"""Iterators of the caller's: where they stand after the call."""

import itertools

import pytest
import torch

from conformance import clause, expected, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


def take_one(x, held):
    return double(x) * next(held)


def take_two_of_three(x, held):
    x = double(x)
    for number in held:
        x = x * number
        if number == 2:
            break
    return x


def use_up(x, held):
    return double(x) * sum(held)


def default_when_empty(x, held):
    x = double(x)
    for number in held:
        x = x + number
    return x * next(held, 7)


def unpack(x, held):
    first, *rest = held
    return double(x) * first, rest


def search(x, held):
    return double(x) if 2 in held else x


def stop_iteration_caught(x, held):
    try:
        while True:
            x = x + next(held)
    except StopIteration:
        return double(x)


def numbers(*values):
    yield from values


class Counting:
    """An iterator of the user's."""

    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count > 3:
            raise StopIteration
        return self.count


def rest_of(arguments, output):
    return list(arguments[1])


def list_iterator():
    return iter([1, 2, 3])


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


ITERATORS = [
    pytest.param(lambda: iter([1, 2, 3]), expected("""mul"""), id="list"),
    pytest.param(lambda: iter((1, 2, 3)), expected("""mul; mul; mul"""), id="tuple"),
    pytest.param(lambda: iter(range(1, 4)), expected("""mul; mul; mul"""), id="range"),
    pytest.param(lambda: map(abs, [1, 2, 3]), expected("""mul"""), id="map"),
    pytest.param(lambda: itertools.chain([1, 2], [3]), expected("""mul"""), id="chain"),
    pytest.param(lambda: numbers(1, 2, 3), expected("""mul"""), id="generator"),
    pytest.param(Counting, expected("""mul; mul; mul"""), id="own"),
]
USES = [
    pytest.param(take_one, id="one_taken"),
    pytest.param(take_two_of_three, id="left_by_break"),
    pytest.param(use_up, id="used_up"),
    pytest.param(default_when_empty, id="default"),
    pytest.param(unpack, id="unpacked"),
    pytest.param(search, id="searched"),
    pytest.param(stop_iteration_caught, id="stop_iteration"),
]


@pytest.mark.parametrize(("make", "operators"), ITERATORS)
@needs("graph_breaks", "python_objects")
@clause("python.iterators.position")
def test_kinds_of_iterators(stack, device, make, operators):
    """An iterator of the caller's from which the program takes two of three has the third left."""
    run = stack.run(take_two_of_three, on(make), after=rest_of)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect(operators)


@pytest.mark.parametrize("program", USES)
@needs("graph_breaks", "python_objects")
@clause("python.iterators.position")
def test_uses_of_an_iterator(stack, device, program):
    """An iterator over a list stands where eager leaves it, however the program takes from it."""
    run = stack.run(program, on(list_iterator), after=rest_of)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect("""mul""")
