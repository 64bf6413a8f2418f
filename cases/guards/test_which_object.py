"""Whether what a program reads in two places is one object: changed between calls."""

import types

import pytest
import torch

from conformance import call, clause, needs


class Thing:
    """Equal to nothing but itself, and called the same on both sides."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


MARK = Thing("mark")


def attributes(x, held):
    return x * 2 if held.first is held.second else x + 1


def not_attributes(x, held):
    return x * 2 if held.first is not held.second else x + 1


def elements(x, held):
    return x * 2 if held.elements[0] is held.elements[1] else x + 1


def values(x, held):
    return x * 2 if held.values["first"] is held.values["second"] else x + 1


def with_a_global(x, held):
    return x * 2 if held.second is MARK else x + 1


def in_a_set(x, held):
    return x * 2 if held.second in held.known else x + 1


def as_a_key(x, held):
    return x * held.factors.get(held.second, 2)


def equal(x, held):
    return x * 2 if held.first == held.second else x + 1


def make(first, second):
    """Two objects in each place where a program looks for them."""
    held = types.SimpleNamespace(known={first}, factors={first: 3}, elements=[None, None], values={})
    put(held, first, second)
    return held


def put(held, first, second):
    held.first, held.second = first, second
    held.elements[:] = first, second
    held.values.update(first=first, second=second)


def in_turn(objects, *turns):
    """Calls on one holder; each turn says which two of the objects it holds."""

    def calls(device):
        made, x = objects(), torch.arange(3.0, device=device)
        held = make(made[turns[0][0]], made[turns[0][1]])
        steps = [lambda _, turn=turn: put(held, made[turn[0]], made[turn[1]]) for turn in turns]
        return [call(x, held, before=step) for step in steps]

    return calls


def things():
    return Thing("one"), Thing("other")


def modules():
    return torch.nn.ReLU(), torch.nn.ReLU()


def functions():
    return torch.sin, torch.cos


def marked():
    return Thing("one"), MARK


ONE, TWO = (0, 0), (0, 1)


@pytest.mark.parametrize(
    ("program", "objects", "turns"),
    [
        pytest.param(attributes, things, (TWO, ONE, TWO), id="attributes"),
        pytest.param(not_attributes, things, (ONE, TWO, ONE), id="attributes_no_longer"),
        pytest.param(elements, things, (TWO, ONE, TWO), id="elements"),
        pytest.param(values, things, (TWO, ONE, TWO), id="values"),
        pytest.param(attributes, modules, (TWO, ONE, TWO), id="modules"),
        pytest.param(attributes, functions, (TWO, ONE, TWO), id="functions"),
        pytest.param(with_a_global, marked, (ONE, TWO, ONE), id="global"),
        pytest.param(in_a_set, things, (ONE, TWO, ONE), id="in_a_set"),
        pytest.param(as_a_key, things, (ONE, TWO, ONE), id="as_a_key"),
        pytest.param(equal, things, (TWO, ONE, TWO), id="equal"),
    ],
)
@needs("recompiles")
@clause("guards.attributes.of_objects")
def test_one_object_or_two(stack, device, program, objects, turns):
    """A call that finds one object where two were, or two where one was, takes eager's way, as does the call after it."""
    run = stack.run(program, in_turn(objects, *turns))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
