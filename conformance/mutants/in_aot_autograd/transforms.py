"""Mutants of transforms and tangents: rules of custom functions, forward mode, the history of gradients inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import fx
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from conformance.canonical.operators import target_name
from conformance.mutants.base import Compiled, around, editing, patching
from conformance.mutants.wrappers import on_outputs


def _doubled(results: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, lambda one: one * 2, results)


@contextmanager
def _results_of_rule_doubled(rule: str) -> Iterator[None]:
    """In every custom function that a transform meets."""
    from torch._functorch import autograd_function

    original = autograd_function.generate_single_level_function

    def generated(*args: Any) -> Any:
        function: Any = original(*args)
        own = getattr(function, rule)
        setattr(function, rule, staticmethod(lambda ctx, *given: _doubled(own(ctx, *given))))
        return function

    with mock.patch.object(autograd_function, "generate_single_level_function", generated):
        yield


@patching("aot_autograd.custom_function.own_jvp", base="eager")
def own_tangents_doubled() -> Iterator[None]:
    """What a custom function's jvp returns is doubled."""
    with _results_of_rule_doubled("jvp"):
        yield


@patching("aot_autograd.custom_function.own_backward_in_transforms", base="eager")
def own_gradients_doubled() -> Iterator[None]:
    """Under a transform, what a custom function's backward returns is doubled."""
    with _results_of_rule_doubled("backward"):
        yield


@patching("aot_autograd.custom_function.own_vmap", base="eager")
def own_vmap_doubled() -> Iterator[None]:
    """What a custom function's vmap rule returns is doubled."""
    from torch._functorch import autograd_function

    original = autograd_function.custom_function_call_vmap_helper

    def doubled(*args: Any, **options: Any) -> Any:
        return _doubled(original(*args, **options))

    with mock.patch.object(autograd_function, "custom_function_call_vmap_helper", doubled):
        yield


@around("aot_autograd.forward_mode.caller", base="eager")
def tangents_dropped(compiled: Compiled) -> Compiled:
    """No output has a tangent."""
    return on_outputs(compiled, lambda output: forward_ad.unpack_dual(output).primal)  # type: ignore[no-untyped-call]


@editing("aot_autograd.forward_mode.inside")
def tangents_taken_from_values(module: fx.GraphModule) -> None:
    """Every tensor is its own tangent."""
    for node in module.graph.nodes:
        if target_name(node.target) == "_make_dual":
            node.update_arg(1, node.args[0])


@editing("aot_autograd.transforms.same_results")
def gradients_inside_without_history(module: fx.GraphModule) -> None:
    """A gradient that is taken inside the program is a constant for the backward of the program."""
    for node in module.graph.nodes:
        if target_name(node.target) == "_autograd_grad":
            node.update_kwarg("create_graph", False)
            node.update_kwarg("retain_graph", True)
