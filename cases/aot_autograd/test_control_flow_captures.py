"""Loops and branches whose bodies read, besides their operands, the very tensors that they are given."""

import pytest
import torch
from torch._higher_order_ops import while_loop

from conformance import clause, tensors


def counter(x):
    return torch.zeros((), dtype=torch.int64, device=x.device)


def loop_reads_its_start(x, y):
    return while_loop(lambda i, one: i < 2, lambda i, one: (i + 1, one * y + x), (counter(x), x))


def condition_reads_its_start(x, y):
    return while_loop(lambda i, one: (i < 2) & (x.sum() > 0), lambda i, one: (i + 1, one * y), (counter(x), x))


def loop_reads_a_view_of_its_start(x, y):
    first = x[0]
    return while_loop(lambda i, one: i < 2, lambda i, one: (i + 1, one * y + first), (counter(x), x))


def branch_reads_its_operand(x, y):
    return torch.cond(x.sum() > 0, lambda one: one * x, lambda one: one - y, (x,))


@pytest.mark.parametrize(
    "program",
    [
        loop_reads_its_start,
        condition_reads_its_start,
        loop_reads_a_view_of_its_start,
        branch_reads_its_operand,
    ],
)
@clause("aot_autograd.control_flow.loops")
def test_operand_read_beside(stack, device, program):
    """A tensor that a body is given and reads from outside as well is one tensor in both places."""
    run = stack.run(program, tensors((3, 3), (3, 3), device=device), inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
