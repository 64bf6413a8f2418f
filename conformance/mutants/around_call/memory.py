"""Mutants of memory: which outputs share it with whom, which object is which, and what shape inputs have afterwards."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around
from conformance.mutants.wrappers import equal_ones_merged, on_outputs, tensors_in, with_arguments


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """Memory of its own with the same strides, and the same history."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)


@around("aot_autograd.aliasing.view_of_input")
def views_of_inputs_copied(compiled: Compiled) -> Compiled:
    """An output on the memory of an argument is a copy with the same strides."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        taken = {_address(tensor) for tensor in tensors_in((args, kwargs))}
        outputs = compiled(*args, **kwargs)
        return pytree.tree_map_only(torch.Tensor, lambda one: _copy(one) if _address(one) in taken else one, outputs)

    return called


class _Through(torch.autograd.Function):
    """The same memory, by a function whose views autograd lets nobody write to."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0]


@around("aot_autograd.aliasing.view_of_input_with_gradients")
def views_of_a_custom_function(compiled: Compiled) -> Compiled:
    """Each output comes from a custom autograd function, so that a write to it does not become part of the history."""
    return on_outputs(compiled, _Through.apply)


@around("aot_autograd.aliasing.view_without_history")
def outputs_made_to_require_grad(compiled: Compiled) -> Compiled:
    """Each output that can require grad does."""
    return on_outputs(compiled, lambda one: one.requires_grad_() if one.is_floating_point() else one)


@around("aot_autograd.aliasing.view_of_intermediate")
def shared_memory_split(compiled: Compiled) -> Compiled:
    """An output on the memory of an earlier one is a copy."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        seen: set[int] = set()

        def split(output: torch.Tensor) -> torch.Tensor:
            shared = _address(output) in seen
            seen.add(_address(output))
            return _copy(output) if shared else output

        return pytree.tree_map_only(torch.Tensor, split, compiled(*args, **kwargs))

    return called


@around("aot_autograd.aliasing.identity")
def outputs_wrapped_anew(compiled: Compiled) -> Compiled:
    """Each output is a tensor object of its own on its memory."""
    return on_outputs(compiled, lambda output: output.view_as(output))


@around("aot_autograd.aliasing.no_new_alias")
def equal_inputs_returned(compiled: Compiled) -> Compiled:
    """An output that equals an argument is that argument."""
    return equal_ones_merged(compiled, arguments=True)


@around("aot_autograd.metadata.input")
def shapes_put_back(compiled: Compiled) -> Compiled:
    """The tensors that were passed have after the call the shape and strides that they had before it."""

    def kept(tensors: list[torch.Tensor]) -> Iterator[None]:
        before = [(tensor.shape, tensor.stride(), tensor.storage_offset()) for tensor in tensors]
        yield
        for tensor, geometry in zip(tensors, before, strict=True):
            tensor.data = tensor.detach().as_strided(*geometry)

    return with_arguments(compiled, kept)


@around("aot_autograd.metadata.data")
def data_put_back(compiled: Compiled) -> Compiled:
    """The tensors that were passed have after the call the memory that they had before it."""

    def kept(tensors: list[torch.Tensor]) -> Iterator[None]:
        before = [tensor.detach() for tensor in tensors]
        yield
        for tensor, data in zip(tensors, before, strict=True):
            tensor.data = data

    return with_arguments(compiled, kept)


@around("aot_autograd.metadata.requires_grad")
def requires_grad_put_back(compiled: Compiled) -> Compiled:
    """The leaves that were passed require grad after the call as before it."""

    def kept(tensors: list[torch.Tensor]) -> Iterator[None]:
        before = [tensor.requires_grad for tensor in tensors]
        yield
        for tensor, flag in zip(tensors, before, strict=True):
            if tensor.is_leaf:
                tensor.requires_grad_(flag)

    return with_arguments(compiled, kept)
