"""Mutants around the compiled callable: what it does to arguments, outputs, gradients and errors."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch

from conformance.mutants.base import Compiled, around
from conformance.mutants.wrappers import (
    equal_ones_merged,
    on_arguments,
    on_outputs,
    put_back,
    swallowing,
    with_arguments,
)


@around(
    "aot_autograd.mutation.writeback", "aot_autograd.random.input_filled", "aot_autograd.control_flow.captured_writes"
)
def write_backs_dropped(compiled: Compiled) -> Compiled:
    """The tensors that were passed hold after the call what they held before it."""
    return with_arguments(compiled, put_back)


@around("duplicate_arguments.guards.right_pair")
def write_back_of_second_dropped(compiled: Compiled) -> Compiled:
    """The second tensor that was passed holds after the call what it held before it."""
    return with_arguments(compiled, put_back, chosen=slice(1, 2))


@around("aot_autograd.mutation.through_expanded_view")
def write_back_doubled(compiled: Compiled) -> Compiled:
    """What a call adds to a tensor is added twice."""

    def twice(tensors: list[torch.Tensor]) -> Iterator[None]:
        before = [tensor.detach().clone() for tensor in tensors]
        yield
        for tensor, value in zip(tensors, before, strict=True):
            tensor.data.add_(tensor.detach() - value)

    return with_arguments(compiled, twice)


@around("aot_autograd.mutation.writeback")
def version_bump_hidden(compiled: Compiled) -> Compiled:
    """The version counters of the arguments are after the call as before it, so that autograd sees no mutation."""

    def hidden(tensors: list[torch.Tensor]) -> Iterator[None]:
        with torch.autograd._unsafe_preserve_version_counter(tuple(tensors)):  # type: ignore[attr-defined]
            yield

    return with_arguments(compiled, hidden)


@around("aot_autograd.guards.requires_grad")
def input_touched(compiled: Compiled) -> Compiled:
    """One is added to the last tensor that was passed, which the program only reads."""

    def touched(tensors: list[torch.Tensor]) -> Iterator[None]:
        yield
        for tensor in tensors:
            tensor.data.add_(1)

    return with_arguments(compiled, touched, chosen=slice(-1, None))


@around("aot_autograd.aliasing.view_of_mutated_input")
def outputs_cloned(compiled: Compiled) -> Compiled:
    """Every output has memory of its own, where eager returns views of the inputs."""
    return on_outputs(compiled, torch.clone)


@around(
    "layout.outputs.eager_strides", "layout.outputs.unconverted", "aot_autograd.metadata.intermediate", base="inductor"
)
def outputs_made_contiguous(compiled: Compiled) -> Compiled:
    """Every output is contiguous, whatever strides eager gives it."""
    return on_outputs(compiled, torch.Tensor.contiguous)


@around("aot_autograd.grad_mode.change_outlives_call", "freezing.conv_bn.norm_alone")
def outputs_detached(compiled: Compiled) -> Compiled:
    """No output has history."""
    return on_outputs(compiled, torch.Tensor.detach)


@around("aot_autograd.grad_mode.change_outlives_call")
def equal_outputs_merged(compiled: Compiled) -> Compiled:
    """Outputs of equal value are one object."""
    return equal_ones_merged(compiled, outputs=True)


@around("duplicate_arguments.guards.same_tensor_twice")
def first_result_again(compiled: Compiled) -> Compiled:
    """Every call returns what the first one returned."""
    results: list[Any] = []

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        results.append(compiled(*args, **kwargs))
        return results[0]

    return called


@around("aot_autograd.mutation.through_expanded_view")
def gradients_scaled(compiled: Compiled) -> Compiled:
    """Gradients that flow back through an output are doubled."""

    def scaled(output: torch.Tensor) -> torch.Tensor:
        if output.requires_grad:
            output.register_hook(lambda gradient: gradient * 2)  # type: ignore[no-untyped-call]
        return output

    return on_outputs(compiled, scaled)


@around("aot_autograd.mutation.through_expanded_view")
def gradients_zero_for_none(compiled: Compiled) -> Compiled:
    """An argument without a gradient of its own gets one of zeros."""

    def zeroed(tensors: list[torch.Tensor]) -> Iterator[None]:
        yield
        for tensor in tensors:
            if tensor.is_leaf and not tensor.requires_grad and tensor.is_floating_point():
                tensor.grad = torch.zeros_like(tensor)

    return with_arguments(compiled, zeroed)


@around("aot_autograd.errors.set_on_leaf", "guards.globals.deleted", "aot_autograd.control_flow.aliases")
def exception_swallowed(compiled: Compiled) -> Compiled:
    """A call that raises returns None."""
    return swallowing(compiled)


@around("aot_autograd.errors.set_on_leaf", "guards.globals.deleted")
def exception_renamed(compiled: Compiled) -> Compiled:
    """Whatever a call raises comes out as a TypeError."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        except Exception as error:
            raise TypeError(str(error)) from None

    return called


@around("aot_autograd.metadata.requires_grad")
def copies_changed(compiled: Compiled) -> Compiled:
    """What a program changes of its arguments it changes of copies."""
    return on_arguments(compiled, lambda one: one * 1)
