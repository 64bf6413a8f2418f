"""Regions that are compiled once for several uses: what each use finds is what it finds in eager."""

import pytest
import torch

from conformance import clause, needs


@torch.compiler.nested_compile_region
def of_arguments(x, factor):
    return x * factor + 1


class Found:
    def __init__(self, value):
        self.value, self.factor = value, 2


found, latest = Found(None), None
numbers = [1]


@torch.compiler.nested_compile_region
def of_a_global():
    return latest.value * 2


@torch.compiler.nested_compile_region
def of_an_attribute(x):
    return x * found.factor


@torch.compiler.nested_compile_region
def of_a_list(x):
    return x + numbers[-1]


def with_other_arguments(x):
    return of_arguments(x, 2) + of_arguments(x, 3) + of_arguments(x[0], 2)


def after_a_global_is_replaced(x):
    global latest
    for _ in range(2):
        latest = Found(x)
        x = of_a_global()
    return x


def after_an_attribute_is_set(x):
    found.factor = 2
    first = of_an_attribute(x)
    found.factor = 3
    return first + of_an_attribute(x)


def after_a_list_is_appended_to(x):
    numbers[:] = [1]
    first = of_a_list(x)
    numbers.append(5)
    return first * of_a_list(x)


def in_a_closure(x):
    factor = 2

    @torch.compiler.nested_compile_region
    def region(one):
        return one * factor

    first = region(x)
    factor = 3
    return first + region(x)


def two_rows(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]


@pytest.mark.parametrize(
    "program",
    [
        with_other_arguments,
        after_a_global_is_replaced,
        after_an_attribute_is_set,
        after_a_list_is_appended_to,
        in_a_closure,
    ],
)
@needs("graph_breaks", "python_objects")
@clause("python.functions.run")
def test_used_twice(stack, device, program):
    """The second use of a region sees what was replaced, set or appended since the first."""
    run = stack.run(program, two_rows)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
