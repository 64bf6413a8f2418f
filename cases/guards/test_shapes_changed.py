"""Shapes of the arguments: rank, sizes of 0 and 1, equal sizes that become unequal, marked dimensions."""

import pytest
import torch

from conformance import call, clause, expected, needs


def double(x):
    return x * 2


def scale_by_size(x):
    return x * x.shape[0]


def choose_by_size(x):
    return x * 2 if x.shape[0] > 2 else x + 1


def choose_by_empty(x):
    return x * 2 if x.numel() else x + 1


def sum_first(x):
    return x.sum(0) * 2


def squeeze(x):
    return x.squeeze(0) * 2


def add(x, y):
    return x + y


def choose_by_equality(x, y):
    return x * 2 if x.shape == y.shape else x + 1


def choose_by_divisibility(x):
    return x * 2 if x.shape[0] % 2 == 0 else x + 1


def size_comes_out(x):
    return x * 2, x.shape[0], x.shape, x.numel() + 1


def halves(x):
    return x[: x.shape[0] // 2] * 2


def ones(device, *shape):
    return torch.arange(float(torch.Size(shape).numel()), device=device).reshape(shape)


def shapes(*all_shapes):
    return lambda device: [(ones(device, *shape),) for shape in all_shapes]


def pairs(*all_pairs):
    return lambda device: [(ones(device, *one), ones(device, *other)) for one, other in all_pairs]


SIZES = [
    pytest.param(double, shapes((3,), (3, 2), (3,)), 2, 1, expected("""rank of x: expected 1, actual 2"""), id="rank"),
    pytest.param(double, shapes((3,), (), (3,)), 2, 1, expected("""rank of x: expected 1, actual 0"""), id="no_dimension"),
    pytest.param(scale_by_size, shapes((3,), (4,), (5,), (3,)), 2, 1, expected("""size of x at 0: expected 3, actual 4"""), id="grows"),
    pytest.param(scale_by_size, shapes((3,), (4,), (1,), (0,)), 4, 3, expected("""size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 1; 2 <= size of x at 0; size of x at 0: expected 3, actual 0; 2 <= size of x at 0; size of x at 0: expected 1, actual 0"""), id="one_and_zero"),
    pytest.param(scale_by_size, shapes((1,), (3,), (0,), (4,)), 3, 2, expected("""size of x at 0: expected 1, actual 3; size of x at 0: expected 1, actual 0; 2 <= size of x at 0"""), id="from_one"),
    pytest.param(choose_by_empty, shapes((3, 2), (0, 2), (4, 2)), 3, 2, expected("""size of x at 0: expected 3, actual 0; size of x at 0: expected 3, actual 4; size of x at 0: expected 0, actual 4"""), id="empty"),
    pytest.param(sum_first, shapes((3, 2), (0, 2), (1, 2)), 3, 2, expected("""size of x at 0: expected 3, actual 0; size of x at 0: expected 3, actual 1; size of x at 0: expected 0, actual 1"""), id="sum_of_none"),
    pytest.param(squeeze, shapes((2, 2), (1, 2), (3, 2)), 3, 2, expected("""size of x at 0: expected 2, actual 1; size of x at 0: expected 2, actual 3; size of x at 0: expected 1, actual 3"""), id="squeezed"),
    pytest.param(choose_by_size, shapes((3,), (4,), (2,), (5,)), 3, 2, expected("""size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 2; 3 <= size of x at 0"""), id="branch"),
    pytest.param(choose_by_divisibility, shapes((3,), (5,), (4,), (6,)), 3, 2, expected("""size of x at 0: expected 3, actual 5; size of x at 0: expected 3, actual 4; (size of x at 0 % 2) != 0"""), id="divisible"),
    pytest.param(size_comes_out, shapes((3, 2), (4, 2), (5, 2)), 2, 1, expected("""size of x at 0: expected 3, actual 4"""), id="size_comes_out"),
    pytest.param(halves, shapes((4,), (6,), (7,)), 2, 1, expected("""size of x at 0: expected 4, actual 6"""), id="half"),
]
EQUAL = [
    pytest.param(add, pairs(((3,), (3,)), ((4,), (4,)), ((5,), (1,))), 3, 2, expected("""size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 5; size of y at 0 == size of x at 0"""), id="broadcast"),
    pytest.param(add, pairs(((3,), (3,)), ((1,), (3,)), ((4,), (4,))), 3, 2, expected("""size of x at 0: expected 3, actual 1; size of x at 0: expected 3, actual 4; size of x at 0: expected 1, actual 4"""), id="broadcast_first"),
    pytest.param(
        choose_by_equality, pairs(((3,), (3,)), ((4,), (4,)), ((4,), (5,))), 3, 2, expected("""size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 4; size of y at 0 == size of x at 0"""), id="compared"
    ),
    pytest.param(add, pairs(((3, 3), (3, 3)), ((4, 5), (4, 5))), 2, 1, expected("""size of x at 0: expected 3, actual 4"""), id="square"),
]
@pytest.mark.parametrize(("program", "calls", "graphs", "recompiles", "reasons"), SIZES)
@needs("recompiles", "dynamic_shapes")
@clause("guards.shapes.ranks_and_sizes")
def test_sizes(stack, device, program, calls, graphs, recompiles, reasons):
    """Every call of another shape is right, and there are as many compilations as the program has cases."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=graphs, recompiles=recompiles)
    run.recompiles.expect(reasons)


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
