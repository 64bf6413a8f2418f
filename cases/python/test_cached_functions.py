"""Cached functions run once for equal arguments."""

import functools

import pytest
import torch

from conformance import Program, clause, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


def make_cached(device):
    """How often the function ran is what a call returns."""
    runs = []

    @functools.cache
    def factor(n):
        runs.append(n)
        return n * 2

    def program(x):
        return x * factor(3), factor(3), len(runs)

    return program


def make_cached_small(device):
    """A cache of one entry forgets."""
    runs = []

    @functools.lru_cache(maxsize=1)
    def factor(n):
        runs.append(n)
        return n * 2

    def program(x):
        return x * (factor(3) * factor(4)), len(runs)

    return program


def make_cached_tensor(device):
    @functools.cache
    def table(n):
        return torch.ones(n, device=device)

    def program(x):
        one, other = table(3), table(3)
        return x * 2 + one, one is other

    return program


def make_cached_property(device):
    class Table:
        made = 0

        @functools.cached_property
        def size(self):
            self.made += 1
            return 3

    table = Table()

    def program(x):
        return double(x), table.size + table.size, table.made

    return program


def two_calls(device):
    return [(torch.arange(3.0, device=device),) for _ in range(2)]


CACHED = [
    make_cached,
    make_cached_small,
    pytest.param(make_cached_tensor, id="make_cached_tensor"),
    pytest.param(make_cached_property, id="make_cached_property"),
]


@pytest.mark.parametrize("make", CACHED)
@needs("python_objects")
@clause("python.functions.cached")
def test_cached(stack, device, make):
    """A cached function runs as often, and gives the same objects, as in eager."""
    run = stack.run(Program(make=make), two_calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")
