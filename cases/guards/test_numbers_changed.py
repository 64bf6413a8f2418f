"""Numbers among the arguments: other values and kinds between calls."""

import pytest
import torch

from conformance import call, clause, expected, needs


def multiply(x, n):
    return x * n


def shift_by_half(x, n):
    return x + n // 2


def remainder(x, n):
    return x + n % 3


def choose_by_sign(x, n):
    return x * 2 if n > 0 else x + 1


def choose_by_zero(x, n):
    return x * 2 if n == 0 else x + 1


def choose_by_identity(x, n):
    return x * 2 if n is True else x + 1


def as_size(x, n):
    return x + torch.ones(n, 3, device=x.device)


def in_a_range(x, n):
    for _ in range(n):
        x = x + 1
    return x


def as_index(x, n):
    return x[n]


def comes_out(x, n):
    return x + 1, n, n * 2


def largest(x, n):
    return torch.full_like(x, 0, dtype=torch.int64) + n


def choose_by_nan(x, n):
    return x * 2 if n != n else x + 1


def multiply_by_zero(x, n):
    return x * n


def with_numbers(*values):
    return lambda device: [call(torch.arange(3.0, device=device), value) for value in values]


MAX, MIN = 2**63 - 1, -(2**63)


def row(*values, earlier=None, **more):
    """A row, with the text that it has before 2.13 where that is another one."""
    return pytest.param(*values, earlier or values[-1], **more)


INTEGERS = [
    row(multiply, with_numbers(2, 3, 4, 2), 2, 1, expected("""n == 2"""), id="grow"),
    row(multiply, with_numbers(2, 3, 0, 1, 2), 2, 1, expected("""n == 2"""), id="zero_and_one"),
    row(multiply, with_numbers(2, -3, 5, -7), 2, 1, expected("""n == 2"""), id="negative"),
    row(shift_by_half, with_numbers(5, -5, -7, 8), 2, 1, expected("""n == 5"""), id="floor_division"),
    row(remainder, with_numbers(5, -5, -7, 8), 2, 1, expected("""n == 5"""), id="remainder"),
    row(choose_by_sign, with_numbers(5, -5, 7, -8), 3, 2, expected("""n == 5; n == 5; n <= 0"""), id="sign"),
    row(
        choose_by_zero,
        with_numbers(5, 6, 0, 7),
        3,
        2,
        expected("""n == 5; n == 5; n != 0"""),
        id="compared_with_zero",
    ),
    row(as_size, with_numbers(2, 3, 4), 2, 1, expected("""n == 2"""), id="size"),
    row(in_a_range, with_numbers(2, 3, 2, 0), 2, 2, expected("""n == 2; n == 2; n == 3"""), id="range"),
    row(largest, with_numbers(2, MAX, MIN, 3), 2, 1, expected("""n == 2"""), id="limits"),
    row(
        as_index,
        with_numbers(0, 1, 2, -1),
        3,
        2,
        expected("""n == 0; n == 0; 0 <= n <= 2"""),
        earlier=expected("""n == 0; n == 0; 0 <= n"""),
        id="index",
    ),
]
KINDS = [
    pytest.param(multiply, with_numbers(2, 2.0, 2), expected("""n == 2"""), id="float_for_int"),
    pytest.param(multiply, with_numbers(1, True, 1), expected("""n == 1"""), id="bool_for_int"),
    pytest.param(choose_by_identity, with_numbers(True, 1, True), expected("""n == True"""), id="int_for_bool"),
    pytest.param(choose_by_identity, with_numbers(True, False, True), expected("""n == True"""), id="bool"),
    pytest.param(multiply, with_numbers(0.0, False, 0.0), expected("""n == 0.0"""), id="bool_for_float"),
    pytest.param(multiply, with_numbers(2, 2j, 2), expected("""n == 2"""), id="complex_for_int"),
]
FLOATS = [
    pytest.param(multiply, with_numbers(2.0, 3.5, -1.5, 2.0), expected("""mul"""), id="grow"),
    pytest.param(
        multiply,
        with_numbers(2.0, float("inf"), float("-inf"), float("nan"), 2.0),
        expected("""mul"""),
        id="special",
    ),
    pytest.param(
        choose_by_nan,
        with_numbers(2.0, float("nan"), 3.0, float("nan")),
        expected("""add"""),
        id="compared_with_itself",
    ),
    pytest.param(multiply_by_zero, with_numbers(0.0, -0.0, 0.0), expected("""mul"""), id="zeros"),
    pytest.param(comes_out, with_numbers(0.0, -0.0, float("nan"), 0.1), expected("""add"""), id="comes_out"),
    pytest.param(choose_by_sign, with_numbers(2.5, -2.5, 0.0, 1e-320), expected("""mul"""), id="sign"),
]


@pytest.mark.parametrize(("program", "calls", "graphs", "recompiles", "reasons", "earlier"), INTEGERS)
@needs("recompiles", "dynamic_shapes")
@clause("guards.numbers.integers")
def test_integers(stack, device, program, calls, graphs, recompiles, reasons, earlier):
    """Every call with another integer is right, and there are as many compilations as the program has cases."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=graphs, recompiles=recompiles)
    run.recompiles.expect(reasons, since="2.13")
    # Earlier, that an index is in range is not guarded.
    run.recompiles.expect(earlier, until="2.13")


@pytest.mark.parametrize(("program", "calls", "reason"), KINDS)
@needs("recompiles")
@clause("guards.numbers.kinds")
def test_kinds(stack, device, program, calls, reason):
    """A call with a number of another kind between two of the first compiles once more and is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("program", "calls", "operators"), FLOATS)
@needs("recompiles")
@clause("guards.numbers.floats")
def test_floats(stack, device, program, calls, operators):
    """Every call with another float is right."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None)
    run.dynamo[:1].operators.expect(operators)
