"""Mutants of what a program does besides its outputs: buffers, hooks, random numbers, containers and attributes."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch import fx

from conformance.mutants.base import Compiled, around, editing
from conformance.mutants.wrappers import cut_off, on_arguments, with_arguments

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@around("aot_autograd.buffers.updated", "freezing.conv_bn.training")
def buffers_put_back(compiled: Compiled) -> Compiled:
    """The buffers of a module hold after the call what they held before it."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        buffers = list(getattr(compiled, "buffers", list)())
        before = [buffer.clone() for buffer in buffers]
        try:
            return compiled(*args, **kwargs)
        finally:
            for buffer, value in zip(buffers, before, strict=True):
                buffer.data.copy_(value)

    return called


@editing("aot_autograd.buffers.value_of_before", base="dynamo")
def copies_left_out(module: fx.GraphModule) -> None:
    """A copy of a tensor is the tensor itself."""
    for node in module.graph.find_nodes(op="call_method", target="clone"):
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)


@around("aot_autograd.hooks.fire")
def hooks_of_arguments_dropped(compiled: Compiled) -> Compiled:
    """The tensors that were passed have no hooks after the call."""

    def dropped(tensors: list[torch.Tensor]) -> Iterator[None]:
        yield
        for tensor in tensors:
            if tensor._backward_hooks:
                tensor._backward_hooks.clear()

    return with_arguments(compiled, dropped)


@around("aot_autograd.hooks.retain_grad")
def arguments_detached(compiled: Compiled) -> Compiled:
    """The tensors that were passed get no gradient, since copies of them are used."""
    return on_arguments(compiled, cut_off)


@around("aot_autograd.random.same_numbers")
def number_drawn_first(compiled: Compiled) -> Compiled:
    """A random number is drawn before each call, so that the call gets those after it."""

    def drawn(tensors: list[torch.Tensor]) -> Iterator[None]:
        for tensor in tensors:
            torch.rand((), device=tensor.device)
        yield

    return with_arguments(compiled, drawn)


def _contents_put_back(value: Any) -> Callable[[], None]:
    """What gives a container or an object back what it holds now."""
    held: Any = value if isinstance(value, (list, dict, set)) else getattr(value, "__dict__", None)
    if not isinstance(held, (list, dict, set)):
        return lambda: None
    before = copy.copy(held)

    def put_back() -> None:
        held.clear()
        held.extend(before) if isinstance(held, list) else held.update(before)

    return put_back


@around("aot_autograd.side_effects.containers")
def containers_put_back(compiled: Compiled) -> Compiled:
    """Lists, dicts and sets that were passed hold after the call what they held before it."""

    @functools.wraps(compiled)
    def called(*args: Any) -> Any:
        undo = [_contents_put_back(one) for one in args if isinstance(one, (list, dict, set))]
        outputs = compiled(*args)
        for one in undo:
            one()
        return outputs

    return called


@around("aot_autograd.side_effects.state")
def attributes_put_back(compiled: Compiled) -> Compiled:
    """Objects that were passed have after the call the attributes that they had before it."""

    @functools.wraps(compiled)
    def called(*args: Any) -> Any:
        undo = [_contents_put_back(one) for one in args if not isinstance(one, (torch.Tensor, list, dict, set))]
        outputs = compiled(*args)
        for one in undo:
            one()
        return outputs

    return called


@around("aot_autograd.side_effects.until_it_raises", "aot_autograd.side_effects.state", "python.functions.run")
def called_twice(compiled: Compiled) -> Compiled:
    """Each call is made and the second result returned."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        compiled(*args, **kwargs)
        return compiled(*args, **kwargs)

    return called


@around("aot_autograd.hooks.fire")
def hooks_of_modules_skipped(compiled: Compiled) -> Compiled:
    """Modules run as if they had no hooks."""

    def called(*args: Any, **kwargs: Any) -> Any:
        without = [
            mock.patch.dict(module.__dict__, {name: OrderedDict() for name in HOOKS})
            for module in getattr(compiled, "modules", list)()
        ]
        for patch in without:
            patch.start()
        try:
            return compiled(*args, **kwargs)
        finally:
            for patch in without:
                patch.stop()

    return functools.wraps(compiled)(called)
