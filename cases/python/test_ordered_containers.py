"""Ordered dicts, deques and counters that a program changes: what is in them afterwards, in which order."""

import collections

import pytest
import torch

from conformance import clause, expected, needs


def move_to_end(x, held):
    held.move_to_end("b")
    return x * held["a"]


def move_to_front(x, held):
    held.move_to_end("c", last=False)
    return x * held["a"]


def pop_items(x, held):
    return x * held.popitem(last=False)[1] + held.popitem()[1]


def reorder_by_pop(x, held):
    held["a"] = held.pop("a") + 1
    return x * 2


def rotate(x, held):
    held.rotate(1)
    held.append(9)
    return x * held[0]


def deque_of_its_own(x, held):
    held.insert(1, 5)
    held.remove(3)
    held.reverse()
    held.extendleft([7, 8])
    return x * 2


def count(x, held):
    held.update("abca")
    held["z"] -= 1
    return x * held["a"]


def chained(x, held):
    held["new"] = 5
    held.maps[1]["b"] = 6
    return x * held["a"]


def missing_made(x, held):
    held["b"] += 2
    return x * held["a"]


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


def ordered():
    return collections.OrderedDict(a=1, b=2, c=3)


def default():
    return collections.defaultdict(lambda: 5, a=2)


def order_of(arguments, output):
    """Order and attributes that a plain look does not show."""
    held = arguments[1]
    return list(held), getattr(held, "last", None), str(sorted(map(str, vars(held)))) if hasattr(held, "last") else ""


ROWS = [
    pytest.param(move_to_end, ordered, expected("""mul"""), id="move_to_end"),
    pytest.param(move_to_front, ordered, expected("""mul"""), id="move_to_front"),
    pytest.param(pop_items, ordered, expected("""mul; add"""), id="popitem"),
    pytest.param(reorder_by_pop, ordered, expected("""mul"""), id="pop_and_set_in_ordered"),
    pytest.param(rotate, lambda: collections.deque([1, 2, 3], 3), expected("""mul"""), id="deque_rotated"),
    pytest.param(deque_of_its_own, lambda: collections.deque([1, 2, 3]), expected("""mul"""), id="deque_changed"),
    pytest.param(count, lambda: collections.Counter("a"), expected("""mul"""), id="counter"),
    pytest.param(chained, lambda: collections.ChainMap({"a": 2}, {"b": 3}), expected("""mul"""), id="chain_map"),
    pytest.param(missing_made, default, expected("""mul"""), id="defaultdict"),
]


@pytest.mark.parametrize(("program", "make", "operators"), ROWS)
@needs("python_objects")
@clause("python.containers.changed")
def test_container_of_the_caller(stack, device, program, make, operators):
    """A container of the caller's ends with eager's contents in eager's order."""
    run = stack.run(program, on(make), after=order_of)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
