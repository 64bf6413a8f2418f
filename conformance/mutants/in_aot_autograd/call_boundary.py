"""Mutants between a compiled call and autograd: layouts, leaves, and what flows back through the call."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around


@around("aot_autograd.inputs.strided")
def strides_of_inputs_ignored(compiled: Compiled) -> Compiled:
    """The memory of every argument is read as if the argument were contiguous."""

    def in_memory_order(tensor: torch.Tensor) -> torch.Tensor:
        strides = torch.empty(tensor.shape, device="meta").stride()
        return tensor.as_strided(tensor.shape, strides)

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return compiled(*pytree.tree_map_only(torch.Tensor, in_memory_order, args), **kwargs)

    return called


@around("aot_autograd.mutation.leaf_under_no_grad")
def parameters_put_back(compiled: Compiled) -> Compiled:
    """The parameters of a module hold after the call what they held before it."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        parameters = list(compiled.parameters()) if isinstance(compiled, torch.nn.Module) else []
        before = [parameter.detach().clone() for parameter in parameters]
        try:
            return compiled(*args, **kwargs)
        finally:
            for parameter, value in zip(parameters, before, strict=True):
                parameter.data.copy_(value)

    return called


class _Swapped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return first.view_as(first), second.view_as(second)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return gradients[::-1]


@around("aot_autograd.custom_function.gradient_is_saved_input")
def gradients_of_arguments_swapped(compiled: Compiled) -> Compiled:
    """The first of two arguments gets the gradient of the second, and the second that of the first."""

    @functools.wraps(compiled)
    def called(first: Any, second: Any) -> Any:
        return compiled(*_Swapped.apply(first, second))  # type: ignore[no-untyped-call]

    return called


@around("aot_autograd.double_backward.right_or_refused")
def second_gradients_refused_otherwise(compiled: Compiled) -> Compiled:
    """Gradients have no history, so that differentiating them fails with an error that nobody documents."""

    def without_history(output: torch.Tensor) -> torch.Tensor:
        if output.requires_grad and output.grad_fn is not None:
            output.grad_fn.register_hook(lambda gradients, _: tuple(g if g is None else g.detach() for g in gradients))
        return output

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return pytree.tree_map_only(torch.Tensor, without_history, compiled(*args, **kwargs))

    return called
