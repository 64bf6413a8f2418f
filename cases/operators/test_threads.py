"""Two threads of one operator, on tensors so large that it takes both."""

import pytest
import torch

from conformance import clause, on_devices

#: The kernels of a GPU do not use these threads.
WITH_THREADS = on_devices("cpu", reason="the threads of an operator are those of the CPU")


def numbers(device):
    x = (torch.arange(100_000, device=device) * 37 + 11) % 101 - 50
    return [(x, x.abs() % 10)]


def one_too_far(device):
    where = torch.zeros(100_000, dtype=torch.int64, device=device)
    where[70_000] = 1_000
    return [(torch.arange(10.0, device=device), where)]


def sums(x, where):
    return (x * 3).reshape(100, -1).sum(0), (x + where).sum()


def running_sum(x, where):
    return (x + 1).cumsum(0)


def added_at_repeated_places(x, where):
    return torch.zeros(10, dtype=x.dtype, device=x.device).index_add(0, where, x * 2)


def first_of_equal_largest(x, where):
    values, places = (x * 2).reshape(100, -1).max(1)
    return values, places


def gathered_too_far(x, where):
    return x.gather(0, where) * 2 + 1


@pytest.mark.parametrize("program", [sums, running_sum, added_at_repeated_places, first_of_equal_largest])
@WITH_THREADS
@clause("operators.calls.threads")
def test_two_threads(stack, device, program):
    """Operators on whole numbers give exactly what they give in eager, whichever thread computes what."""
    run = stack.run(program, numbers, threads=2)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@WITH_THREADS
@clause("operators.calls.threads")
def test_one_index_among_many(stack, device):
    """An index out of range that one of two threads meets raises as in eager, and does not end the process."""
    run = stack.run(gathered_too_far, one_too_far, threads=2)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
