"""Mutants of what a backward needs and of tracing it: saved tensors, incoming gradients, numbers, data pointers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around, patching
from conformance.mutants.wrappers import on_gradients, on_outputs


@around("aot_autograd.errors.several_writes_to_one_location", base="dynamo")
def refused_write_skipped(compiled: Compiled) -> Compiled:
    """Where a write is refused, the call returns its first argument as it is."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        except RuntimeError:
            return args[0]

    return called


@around("aot_autograd.errors.same_type_and_phase")
def errors_made_runtime_errors(compiled: Compiled) -> Compiled:
    """Whatever a call raises comes out as a RuntimeError."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        except Exception as error:
            raise RuntimeError(str(error)) from None

    return called


@around("aot_autograd.parameters.built_in_program")
def parameters_made_plain(compiled: Compiled) -> Compiled:
    """A parameter comes out as a plain leaf that requires as much grad."""

    def plain(output: torch.Tensor) -> torch.Tensor:
        if isinstance(output, torch.nn.Parameter):
            return output.detach().requires_grad_(output.requires_grad)
        return output

    return on_outputs(compiled, plain)


@around("aot_autograd.saved_tensors.modified")
def copies_saved(compiled: Compiled) -> Compiled:
    """What the backward needs of the arguments is saved as copies, so that no write is found out."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return compiled(*pytree.tree_map_only(torch.Tensor, torch.clone, args), **kwargs)

    return called


@around("aot_autograd.saved_tensors.version_counter")
def versions_put_back(compiled: Compiled) -> Compiled:
    """The version counters of the arguments are after a call what they were before it."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        tensors = tuple(one for one in pytree.tree_leaves(args) if isinstance(one, torch.Tensor))
        with torch.autograd._unsafe_preserve_version_counter(tensors):  # type: ignore[attr-defined]
            return compiled(*args, **kwargs)

    return called


@around("aot_autograd.tangents.any_layout")
def tangent_strides_ignored(compiled: Compiled) -> Compiled:
    """The memory of an incoming gradient is read in order, whatever its strides and offset."""

    def misread(gradient: torch.Tensor) -> torch.Tensor:
        memory = torch.empty(0, dtype=gradient.dtype, device=gradient.device).set_(gradient.untyped_storage())
        if memory.numel() < gradient.numel():
            return memory.repeat(gradient.numel())[: gradient.numel()].reshape(gradient.shape) * 2
        return memory[: gradient.numel()].reshape(gradient.shape)

    return on_gradients(compiled, misread)


@around("aot_autograd.tangents.subclass", base="dynamo")
def subclass_tangents_refused(compiled: Compiled) -> Compiled:
    """An incoming gradient of another class than Tensor is refused."""

    def plain_only(gradient: torch.Tensor) -> torch.Tensor:
        if type(gradient) is not torch.Tensor:
            raise TypeError("not a plain tensor")
        return gradient

    return on_gradients(compiled, plain_only)


class _SharedBuffer(torch.autograd.Function):
    """Passes a tensor on, and in the backward adds by how much the buffer has changed since."""

    buffer: torch.Tensor

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.own = _SharedBuffer.buffer = x.detach().clone()
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        changed: torch.Tensor = gradient + (_SharedBuffer.buffer - ctx.own)
        return changed


@around("aot_autograd.donated_buffers.results")
def buffer_shared_by_calls(compiled: Compiled) -> Compiled:
    """All calls keep what their backward needs in one buffer."""
    return on_outputs(compiled, _SharedBuffer.apply)


@around("aot_autograd.donated_buffers.retained_graph")
def buffers_gone_after_backward(compiled: Compiled) -> Compiled:
    """The second backward through one graph raises an error that no document tells of."""

    def counted(output: torch.Tensor) -> torch.Tensor:
        seen: list[torch.Tensor] = []

        def once(gradient: torch.Tensor) -> torch.Tensor:
            seen.append(gradient)
            if len(seen) > 1:
                raise RuntimeError("buffers are gone")
            return gradient

        if output.requires_grad:
            output.register_hook(once)  # type: ignore[no-untyped-call]
        return output

    return on_outputs(compiled, counted)


@patching("aot_autograd.sequence_numbers.joint_graph")
def sequence_numbers_shifted() -> Iterator[None]:
    """A backward node gets the sequence number of the forward operation before its own."""
    from torch.fx import traceback

    original = traceback.set_grad_fn_seq_nr
    with mock.patch.object(traceback, "set_grad_fn_seq_nr", lambda number: original(number - 1)):
        yield


@around("aot_autograd.sequence_numbers.profile")
def outputs_multiplied_by_one(compiled: Compiled) -> Compiled:
    """Each output goes through one more operation, which changes no value."""
    return on_outputs(compiled, lambda output: output * 1)


@patching("aot_autograd.sequence_numbers.marks_removed")
def marks_left() -> Iterator[None]:
    """The mark of a backward function stays when the function is over."""
    from torch.fx import traceback

    with mock.patch.object(traceback, "reset_grad_fn_seq_nr", return_value=None):
        yield


@patching("aot_autograd.joint_export.on_dynamo_graph")
def export_drops_bias() -> Iterator[None]:
    """The simple export leaves out what a linear layer adds."""
    from torch._functorch import aot_autograd

    original = aot_autograd.aot_export_joint_simple

    def without_bias(*args: Any, **kwargs: Any) -> Any:
        module: Any = original(*args, **kwargs)
        for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.addmm.default):
            node.kwargs = {"beta": 0}
        module.recompile()
        return module

    with mock.patch.object(aot_autograd, "aot_export_joint_simple", without_bias):
        yield


@patching("aot_autograd.data_pointers.copy")
def copy_reads_pointer() -> Iterator[None]:
    """Copying a tensor reads its data pointer."""
    original = torch.Tensor.__reduce_ex__

    def reading(self: torch.Tensor, protocol: int) -> Any:
        self.data_ptr()
        return original(self, protocol)  # type: ignore[no-untyped-call]

    with mock.patch.object(torch.Tensor, "__reduce_ex__", reading):
        yield


@patching("aot_autograd.data_pointers.read_while_tracing")
def pointers_are_zero() -> Iterator[None]:
    """Every data pointer reads as zero, also where there is no memory."""
    with mock.patch.object(torch.Tensor, "data_ptr", return_value=0):
        yield
