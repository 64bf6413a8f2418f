"""Mutants of single numbers: NaN, subnormals, and the bits by which a tensor is a conjugate or a negative."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from conformance.mutants.base import Compiled, around
from conformance.mutants.wrappers import on_arguments, on_outputs, with_arguments


@around("aot_autograd.values.special")
def nan_taken_for_zero(compiled: Compiled) -> Compiled:
    """NaN in an output is zero."""
    return on_outputs(compiled, lambda one: one.nan_to_num(0.0, torch.inf, -torch.inf) if one.isnan().any() else one)


@around("aot_autograd.values.special")
def largest_integers_missed(compiled: Compiled) -> Compiled:
    """The largest number of an integer dtype is one less in an output."""

    def missed(output: torch.Tensor) -> torch.Tensor:
        if output.is_floating_point() or output.is_complex() or output.dtype is torch.bool:
            return output
        return output.clamp(max=torch.iinfo(output.dtype).max - 1)

    return on_outputs(compiled, missed)


@around("aot_autograd.values.subnormal")
def subnormals_flushed(compiled: Compiled) -> Compiled:
    """Subnormal numbers in an output are zero."""

    def flushed(output: torch.Tensor) -> torch.Tensor:
        if not output.is_floating_point():
            return output
        small = (output.abs() < torch.finfo(output.dtype).smallest_normal) & (output != 0)
        return torch.where(small, 0.0, output).to(output.dtype) if small.any() else output

    return on_outputs(compiled, flushed)


def _as_in_memory(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers in the tensor's memory, whatever its bits say of them."""
    tensor = tensor.conj() if tensor.is_conj() else tensor
    return torch._neg_view(tensor) if tensor.is_neg() else tensor


@around("aot_autograd.lazy_views.input")
def lazy_views_taken_for_their_memory(compiled: Compiled) -> Compiled:
    """A lazy view that is passed is taken for the numbers in its memory."""
    return on_arguments(compiled, _as_in_memory)


def _resolved(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.resolve_conj().resolve_neg()


@around("aot_autograd.lazy_views.output", "aot_autograd.lazy_views.intermediate")
def lazy_views_resolved(compiled: Compiled) -> Compiled:
    """A lazy view that comes out is a copy with the numbers that it stands for."""
    return on_outputs(compiled, _resolved)


@around("aot_autograd.lazy_views.written")
def writes_conjugated(compiled: Compiled) -> Compiled:
    """Complex tensors that were passed hold after the call the conjugates of what they should."""

    def conjugated(tensors: list[torch.Tensor]) -> Iterator[None]:
        yield
        for tensor in tensors:
            if tensor.is_complex():
                tensor.data.conj_physical_()

    return with_arguments(compiled, conjugated)
