"""Lists, dicts, sets and containers of the user's that a program changes: what is in them afterwards."""

import collections

import pytest
import torch

from conformance import clause, expected, needs


class OwnList(list):
    def append(self, value):
        super().append(value)
        super().append("own")


class OwnDict(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.last = key

    def __missing__(self, key):
        return 7


def reorder_by_pop(x, held):
    held["a"] = held.pop("a") + 1
    return x * 2


def set_algebra(x, held):
    held -= {1}
    held ^= {2, 9}
    held.update([5], (6,))
    return x * len(held)


def pop_from_set(x, held):
    held.intersection_update({2})
    return x * held.pop()


def most_common(x, held):
    return x * held.most_common(1)[0][1], +held


def own_append(x, held):
    held.append(2)
    return x * len(held)


def own_set(x, held):
    held["new"] = 2
    return x * held["gone"]


def slices(x, held):
    held[::2] = [7, 8]
    held[1:1] = [5, 6]
    del held[-1]
    held *= 2
    return x * len(held)


def sort_by_key(x, held):
    held.sort(key=lambda pair: -pair[1])
    return x * held[0][1]


def sort_stably(x, held):
    held[:] = sorted(held, key=lambda pair: pair[1] % 2, reverse=True)
    return x * held[0][1]


def bytes_changed(x, held):
    held.append(7)
    held[0] = 1
    return x * len(held)


def swapped(x, held):
    held[0], held[-1] = held[-1], held[0]
    return x * held[0]


def merged(x, held):
    held |= {"b": 5, "d": 4}
    other = held | {"a": 0}
    return x * other["b"], other


def view_of_keys(x, held):
    keys = held.keys()
    held["d"] = 4
    return x * len(keys), list(keys), sorted(held.items(), reverse=True)


def contains_itself(x, held):
    held.append(held)
    return x * len(held)


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


def plain():
    return {"a": 1, "b": 2, "c": 3}


def order_of(arguments, output):
    """Order and attributes that a plain look does not show."""
    held = arguments[1]
    return list(held), getattr(held, "last", None), str(sorted(map(str, vars(held)))) if hasattr(held, "last") else ""


ROWS = [
    pytest.param(reorder_by_pop, plain, expected("""mul"""), id="pop_and_set"),
    pytest.param(set_algebra, lambda: {1, 2}, expected("""mul"""), id="set_algebra"),
    pytest.param(pop_from_set, lambda: {1, 2}, expected("""mul"""), id="set_popped"),
    pytest.param(own_append, OwnList, expected("""mul"""), id="own_list"),
    pytest.param(own_set, OwnDict, expected("""mul"""), id="own_dict"),
    pytest.param(slices, lambda: [1, 2, 3, 4], expected("""mul"""), id="slices"),
    pytest.param(sort_by_key, lambda: [("a", 1), ("b", 3), ("c", 2)], expected("""mul"""), id="sort_by_key"),
    pytest.param(sort_stably, lambda: [("a", 1), ("b", 3), ("c", 2)], expected("""mul"""), id="sort_stably"),
    pytest.param(swapped, lambda: [2, 3, 4], expected("""mul"""), id="swapped"),
    pytest.param(merged, plain, expected("""mul"""), id="merged"),
    pytest.param(view_of_keys, plain, expected("""mul"""), id="view_of_keys"),
    pytest.param(contains_itself, lambda: [1], expected("""mul"""), id="contains_itself"),
]

BREAKING = [
    pytest.param(most_common, lambda: collections.Counter("aab"), expected("""mul"""), id="counter_read"),
    pytest.param(bytes_changed, lambda: bytearray(b"ab"), expected("""mul"""), id="bytearray"),
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


@pytest.mark.parametrize(("program", "make", "operators"), BREAKING)
@needs("graph_breaks", "python_objects")
@clause("python.containers.changed")
def test_container_that_breaks_the_graph(stack, device, program, make, operators):
    """A container whose methods are not traced ends with eager's contents."""
    run = stack.run(program, on(make))

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect(operators)
