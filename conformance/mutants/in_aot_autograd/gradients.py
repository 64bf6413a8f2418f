"""Mutants of gradients: their precision, what they are computed from again, and how outputs hang together."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch

from conformance.mutants.base import Compiled, around, patching
from conformance.mutants.wrappers import on_gradients


@around("aot_autograd.autocast.of_the_caller", "aot_autograd.autocast.inside")
def gradients_rounded_to_bfloat16(compiled: Compiled) -> Compiled:
    """Incoming gradients lose the precision that bfloat16 does not have."""
    return on_gradients(compiled, lambda gradient: gradient.bfloat16().to(gradient.dtype))


@around("aot_autograd.tangents.of_overlapping_output", "aot_autograd.saved_tensors.copies")
def tangents_averaged(compiled: Compiled) -> Compiled:
    """Every element of an incoming gradient is taken to be as large as the others: right for a sum, and only there."""
    return on_gradients(compiled, lambda gradient: gradient.mean().expand_as(gradient))


@patching("aot_autograd.recomputation.checkpoint", base="aot_eager_decomp_partition")
def random_numbers_drawn_again() -> Iterator[None]:
    """What is computed again in a backward draws random numbers of its own."""
    from torch._functorch import partitioners

    with mock.patch.object(
        partitioners, "functionalize_rng_ops", lambda joint, forward, backward, _: (forward, backward)
    ):
        yield


@around("aot_autograd.recomputation.memory_budget")
def half_of_it_not_recomputed(compiled: Compiled) -> Compiled:
    """Under a memory budget, the second half of an incoming gradient is lost."""

    def halved(gradient: torch.Tensor) -> torch.Tensor:
        from torch._functorch import config

        kept = torch.arange(gradient.numel(), device=gradient.device) * 2 < gradient.numel()
        return gradient * kept.reshape(gradient.shape) if config.activation_memory_budget < 1 else gradient

    return on_gradients(compiled, halved)


class _OneNode(torch.autograd.Function):
    """Passes tensors on as the outputs of one function, none of which depends on another."""

    @staticmethod
    def forward(ctx: Any, *outputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(output.view_as(output) for output in outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return gradients


@around("aot_autograd.outputs.by_each_other", base="dynamo")
def outputs_independent(compiled: Compiled) -> Compiled:
    """For autograd no output depends on another."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return _OneNode.apply(*compiled(*args, **kwargs))  # type: ignore[no-untyped-call]

    return called
