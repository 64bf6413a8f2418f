"""Recomputation for a memory budget: what a backward computes again changes no gradient."""

import functools

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from conformance import clause, needs, tensors

again = functools.partial(checkpoint, use_reentrant=False)


def squares(x):
    return (x * x).sin() * x


def drop(x):
    kept = functional.dropout(x, 0.5)
    return kept * kept


def noise(x):
    y = x * torch.rand_like(x)
    return y * y


def coins(x):
    y = x * torch.bernoulli(torch.full_like(x, 0.5))
    return y * y


def drop_twice(x):
    return drop(drop(x + 1) - x)


def drop_after(x):
    """The mask is used by the backward of what comes behind it."""
    return functional.dropout(x * x, 0.5).pow(2) * x


def two_numbers(x):
    """Numbers of two operators, one of which is needed by no backward."""
    return functional.dropout(x, 0.25) * x + torch.rand_like(x)


@pytest.mark.parametrize("budget", [0.0, 0.5])
@pytest.mark.parametrize("program", [squares, drop, noise, coins, drop_twice, drop_after, two_numbers])
@needs("training")
@clause("aot_autograd.recomputation.memory_budget")
def test_memory_budget(stack, device, program, budget):
    """However little memory is granted for activations, the gradients are eager's."""
    budgeted = {"functorch.activation_memory_budget": budget}
    run = stack.run(program, tensors((6, 8), device=device, requires_grad=True), config=budgeted)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
