"""Sizes that are equal in one call and not in the next, and shapes declared static or dynamic."""

import pytest
import torch

from conformance import clause, expected, needs


def scale_by_size(x):
    return x * x.shape[0]


def add(x, y):
    return x + y


def choose_by_equality(x, y):
    return x * 2 if x.shape == y.shape else x + 1


def ones(device, *shape):
    return torch.arange(float(torch.Size(shape).numel()), device=device).reshape(shape)


def shapes(*all_shapes):
    return lambda device: [(ones(device, *shape),) for shape in all_shapes]


def pairs(*all_pairs):
    return lambda device: [(ones(device, *one), ones(device, *other)) for one, other in all_pairs]


EQUAL = [
    pytest.param(
        add,
        pairs(((3,), (3,)), ((4,), (4,)), ((5,), (1,))),
        3,
        2,
        expected(
            """size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 5; size of y at 0 == size of x at 0"""
        ),
        id="broadcast",
    ),
    pytest.param(
        add,
        pairs(((3,), (3,)), ((1,), (3,)), ((4,), (4,))),
        3,
        2,
        expected(
            """size of x at 0: expected 3, actual 1; size of x at 0: expected 3, actual 4; size of x at 0: expected 1, actual 4"""
        ),
        id="broadcast_first",
    ),
    pytest.param(
        choose_by_equality,
        pairs(((3,), (3,)), ((4,), (4,)), ((4,), (5,))),
        3,
        2,
        expected(
            """size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 4; size of y at 0 == size of x at 0"""
        ),
        id="compared",
    ),
    pytest.param(
        add,
        pairs(((3, 3), (3, 3)), ((4, 5), (4, 5))),
        2,
        1,
        expected("""size of x at 0: expected 3, actual 4"""),
        id="square",
    ),
]


@pytest.mark.parametrize(("program", "calls", "graphs", "recompiles", "reasons"), EQUAL)
@needs("recompiles", "dynamic_shapes")
@clause("guards.shapes.equal_sizes")
def test_equal_sizes(stack, device, program, calls, graphs, recompiles, reasons):
    """A call with unequal sizes after equal ones is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=graphs, recompiles=recompiles)
    run.recompiles.expect(reasons)


@needs("recompiles", "dynamic_shapes")
@clause("guards.shapes.declared")
def test_dynamic_from_the_start(stack, device):
    """With dynamic shapes asked for, the first compilation serves every size from 2 on."""
    run = stack.run(scale_by_size, shapes((3,), (4,), (2,)), dynamic=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""mul""")


@needs("recompiles")
@clause("guards.shapes.declared")
def test_static_to_the_end(stack, device):
    """With static shapes asked for, each size is compiled for once."""
    run = stack.run(scale_by_size, shapes((3,), (4,), (2,), (3,)), dynamic=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=3, recompiles=2)
    run.recompiles.expect("""\
size of x at 0: expected 3, actual 4
size of x at 0: expected 3, actual 2; size of x at 0: expected 4, actual 2
""")
