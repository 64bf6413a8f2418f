"""Shapes of the arguments: rank, sizes of 0 and 1, growing ones."""

import pytest
import torch

from conformance import clause, expected, needs


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


SIZES = [
    pytest.param(double, shapes((3,), (3, 2), (3,)), 2, 1, expected("""rank of x: expected 1, actual 2"""), id="rank"),
    pytest.param(
        double, shapes((3,), (), (3,)), 2, 1, expected("""rank of x: expected 1, actual 0"""), id="no_dimension"
    ),
    pytest.param(
        scale_by_size,
        shapes((3,), (4,), (5,), (3,)),
        2,
        1,
        expected("""size of x at 0: expected 3, actual 4"""),
        id="grows",
    ),
    pytest.param(
        scale_by_size,
        shapes((3,), (4,), (1,), (0,)),
        4,
        3,
        expected(
            """\
size of x at 0: expected 3, actual 4
size of x at 0: expected 3, actual 1; 2 <= size of x at 0
size of x at 0: expected 3, actual 0; 2 <= size of x at 0; size of x at 0: expected 1, actual 0
"""
        ),
        id="one_and_zero",
    ),
    pytest.param(
        scale_by_size,
        shapes((1,), (3,), (0,), (4,)),
        3,
        2,
        expected("""size of x at 0: expected 1, actual 3; size of x at 0: expected 1, actual 0; 2 <= size of x at 0"""),
        id="from_one",
    ),
    pytest.param(
        choose_by_empty,
        shapes((3, 2), (0, 2), (4, 2)),
        3,
        2,
        expected(
            """size of x at 0: expected 3, actual 0; size of x at 0: expected 3, actual 4; size of x at 0: expected 0, actual 4"""
        ),
        id="empty",
    ),
    pytest.param(
        sum_first,
        shapes((3, 2), (0, 2), (1, 2)),
        3,
        2,
        expected(
            """size of x at 0: expected 3, actual 0; size of x at 0: expected 3, actual 1; size of x at 0: expected 0, actual 1"""
        ),
        id="sum_of_none",
    ),
    pytest.param(
        squeeze,
        shapes((2, 2), (1, 2), (3, 2)),
        3,
        2,
        expected(
            """size of x at 0: expected 2, actual 1; size of x at 0: expected 2, actual 3; size of x at 0: expected 1, actual 3"""
        ),
        id="squeezed",
    ),
    pytest.param(
        choose_by_size,
        shapes((3,), (4,), (2,), (5,)),
        3,
        2,
        expected("""size of x at 0: expected 3, actual 4; size of x at 0: expected 3, actual 2; 3 <= size of x at 0"""),
        id="branch",
    ),
    pytest.param(
        choose_by_divisibility,
        shapes((3,), (5,), (4,), (6,)),
        3,
        2,
        expected(
            """size of x at 0: expected 3, actual 5; size of x at 0: expected 3, actual 4; (size of x at 0 % 2) != 0"""
        ),
        id="divisible",
    ),
    pytest.param(
        size_comes_out,
        shapes((3, 2), (4, 2), (5, 2)),
        2,
        1,
        expected("""size of x at 0: expected 3, actual 4"""),
        id="size_comes_out",
    ),
    pytest.param(
        halves,
        shapes((4,), (6,), (7,)),
        2,
        1,
        expected("""size of x at 0: expected 4, actual 6"""),
        id="half",
    ),
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
