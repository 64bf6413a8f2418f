"""One tensor in two places of the arguments' containers: the guard names both places."""

import collections
import dataclasses

import pytest
import torch

from conformance import call, clause, needs

Named = collections.namedtuple("Named", "a b")


@dataclasses.dataclass
class Record:
    a: torch.Tensor
    b: torch.Tensor


class Plain:
    def __init__(self, a, b):
        self.a = a
        self.b = b


def mutate_both(a, b):
    a.mul_(2)
    b.add_(1)
    return a + b


def of_items(xs):
    return mutate_both(xs[0], xs[1])


def of_positional(*xs):
    return mutate_both(xs[0], xs[1])


def of_keys(d):
    return mutate_both(d["a"], d["b"])


def of_keywords(**d):
    return mutate_both(d["a"], d["b"])


def of_attributes(p):
    return mutate_both(p.a, p.b)


def of_depths(d):
    return mutate_both(d["a"][0], d["b"][1])


def of_item_and_argument(xs, b):
    return mutate_both(xs[0], b)


ITEMS = pytest.mark.parametrize(
    ("program", "wrap"),
    [
        pytest.param(of_items, lambda a, b: call([a, b]), id="list"),
        pytest.param(of_items, lambda a, b: call((a, b)), id="tuple"),
        pytest.param(of_positional, lambda a, b: call(a, b), id="positional"),
    ],
)
KEYS = pytest.mark.parametrize(
    ("program", "wrap"),
    [
        pytest.param(of_keys, lambda a, b: call({"a": a, "b": b}), id="dict"),
        pytest.param(of_keywords, lambda a, b: call(a=a, b=b), id="keywords"),
    ],
)
ATTRIBUTES = pytest.mark.parametrize("kind", [Record, Named, Plain], ids=["dataclass", "namedtuple", "object"])


def same_then_distinct(wrap):
    def calls(device):
        a, b, c = (torch.arange(3.0, device=device) + start for start in range(3))
        return [wrap(a, a), wrap(b, c)]

    return calls


def distinct_then_same(wrap):
    return lambda device: same_then_distinct(wrap)(device)[::-1]


def attributes_of(kind):
    return lambda a, b: call(kind(a, b))


def at_depths(a, b):
    return call({"a": [a], "b": (0, b)})


def item_and_argument(a, b):
    return call([a], b)


@ITEMS
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers")
def test_items_same_then_distinct(stack, device, program, wrap):
    """One tensor for two items and then two compile twice, for that reason."""
    run = stack.run(program, same_then_distinct(wrap))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""xs[0] is xs[1]""")


@ITEMS
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers_become_one")
def test_items_distinct_then_same(stack, device, program, wrap):
    """Two tensors for two items and then one compile twice, for that reason."""
    run = stack.run(program, distinct_then_same(wrap))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""xs[0] is not xs[1]""")


@KEYS
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers")
def test_keys_same_then_distinct(stack, device, program, wrap):
    """One tensor under two keys and then two compile twice, for that reason."""
    run = stack.run(program, same_then_distinct(wrap))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""d['a'] is d['b']""")


@KEYS
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers_become_one")
def test_keys_distinct_then_same(stack, device, program, wrap):
    """Two tensors under two keys and then one compile twice, for that reason."""
    run = stack.run(program, distinct_then_same(wrap))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""d['a'] is not d['b']""")


@ATTRIBUTES
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers")
def test_attributes_same_then_distinct(stack, device, kind):
    """One tensor for two attributes and then two compile twice, for that reason."""
    run = stack.run(of_attributes, same_then_distinct(attributes_of(kind)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""p.a is p.b""")


@ATTRIBUTES
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers_become_one")
def test_attributes_distinct_then_same(stack, device, kind):
    """Two tensors for two attributes and then one compile twice, for that reason."""
    run = stack.run(of_attributes, distinct_then_same(attributes_of(kind)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""p.a is not p.b""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers")
def test_depths_same_then_distinct(stack, device):
    """One tensor at two depths of a dict and then two compile twice, for that reason."""
    run = stack.run(of_depths, same_then_distinct(at_depths))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""d['a'][0] is d['b'][1]""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers")
def test_item_is_also_an_argument(stack, device):
    """One tensor for an item and for an argument and then two compile twice, for that reason."""
    run = stack.run(of_item_and_argument, same_then_distinct(item_and_argument))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""xs[0] is b""")
