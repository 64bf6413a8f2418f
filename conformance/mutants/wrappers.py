"""What mutants put around a call: something done to its outputs, its arguments or its buffers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled


def tensors_in(values: Any) -> list[torch.Tensor]:
    """The distinct tensors in nested values."""
    found: list[torch.Tensor] = []
    for leaf in pytree.tree_leaves(values):
        if isinstance(leaf, torch.Tensor) and not any(leaf is one for one in found):
            found.append(leaf)
    return found


def on_outputs(compiled: Compiled, change: Callable[[torch.Tensor], torch.Tensor]) -> Compiled:
    """What ``compiled`` returns, with every tensor in it changed."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return pytree.tree_map_only(torch.Tensor, change, compiled(*args, **kwargs))

    return called


def on_gradients(compiled: Compiled, change: Callable[[torch.Tensor], torch.Tensor]) -> Compiled:
    """Every incoming gradient of an output goes through ``change`` first."""

    def hooked(output: torch.Tensor) -> torch.Tensor:
        if output.requires_grad:
            output.register_hook(change)  # type: ignore[no-untyped-call]
        return output

    return on_outputs(compiled, hooked)


def on_arguments(compiled: Compiled, change: Callable[[torch.Tensor], torch.Tensor]) -> Compiled:
    """A call of ``compiled`` on changed tensors: whatever it does to them, the caller's are left alone."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return compiled(*pytree.tree_map_only(torch.Tensor, change, args), **kwargs)

    return called


def cut_off(tensor: torch.Tensor) -> torch.Tensor:
    """A leaf on the same memory that requires as much grad."""
    return tensor.detach().requires_grad_(tensor.requires_grad)


def equal_ones_merged(compiled: Compiled, *, arguments: bool = False, outputs: bool = False) -> Compiled:
    """What ``compiled`` returns, where an output that equals an argument, or an output before it, is that."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        known = tensors_in((args, kwargs)) if arguments else []

        def first(output: torch.Tensor) -> torch.Tensor:
            equal = next((one for one in known if one.shape == output.shape and torch.equal(one, output)), output)
            if outputs:
                known.append(output)
            return equal

        return pytree.tree_map_only(torch.Tensor, first, compiled(*args, **kwargs))

    return called


def swallowing(compiled: Compiled) -> Compiled:
    """A call that returns None where ``compiled`` raises."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        except Exception:
            return None

    return called


def with_arguments(
    compiled: Compiled, step: Callable[[list[torch.Tensor]], Iterator[None]], *, chosen: slice = slice(None)
) -> Compiled:
    """A call with a step around it: the generator runs to its yield before the call, and on after it."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        around_call = step(tensors_in((args, kwargs))[chosen])
        next(around_call, None)
        try:
            return compiled(*args, **kwargs)
        finally:
            next(around_call, None)

    return called


def put_back(tensors: list[torch.Tensor]) -> Iterator[None]:
    before = [tensor.detach().clone() for tensor in tensors]
    yield
    for tensor, value in zip(tensors, before, strict=True):
        if tensor.shape == value.shape:
            tensor.data.copy_(value)
