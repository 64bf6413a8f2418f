"""Mutants in the graph that Dynamo captured, before a backend compiles it: operators exchanged, edges redirected."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from conformance.canonical.operators import target_name
from conformance.mutants.base import editing


def _calls(module: fx.GraphModule, *names: str) -> list[fx.Node]:
    """The nodes that apply one of these operators."""
    called = ("call_function", "call_method")
    return [node for node in module.graph.nodes if node.op in called and target_name(node.target) in names]


@editing("aot_autograd.mutation.intermediate_alone")
def computed_in_its_argument(module: fx.GraphModule) -> None:
    """A sine is written over what it is computed from."""
    for node in _calls(module, "sin"):
        node.op, node.target = "call_method", "sin_"


@editing("aot_autograd.export.compiles")
def convolution_without_bias(module: fx.GraphModule) -> None:
    """Convolutions leave their bias out."""
    for node in _calls(module, "conv2d", "aten.conv2d"):
        node.update_arg(2, None)


@editing("aot_autograd.export.mutates")
def no_grad_region_left_out(module: fx.GraphModule) -> None:
    """What is written while grad mode is off is not written."""
    grad_mode = True
    for node in list(module.graph.nodes):
        name = target_name(node.target)
        if name == "set_grad_enabled":
            grad_mode = bool(node.args[0])
        elif name == "wrap_with_set_grad_enabled" or (not grad_mode and name == "add_"):
            module.graph.erase_node(node)


@editing("aot_autograd.graph_breaks.data_dependent_branch")
def comparison_reversed(module: fx.GraphModule) -> None:
    """What is less is taken for what is not, so that the other branch is taken."""
    for node in _calls(module, "lt"):
        node.target = operator.ge


@editing("aot_autograd.graph_breaks.aliases_see_later_writes")
def outputs_of_graphs_cloned(module: fx.GraphModule) -> None:
    """What a graph hands on to the next has memory of its own."""
    output = module.graph.output_node()

    def cloned(node: fx.Node) -> Any:
        with module.graph.inserting_before(output):
            return module.graph.call_function(torch.clone, (node,))

    output.args = (fx.map_arg(output.args[0], cloned),)


@editing("aot_autograd.pieces.duplicate_outputs")
def second_factor_taken_for_first(module: fx.GraphModule) -> None:
    """An in-place multiplication squares, as if both operands were always one tensor."""
    for node in _calls(module, "mul_"):
        node.update_arg(1, node.args[0])


class _Flat(torch.autograd.Function):
    """The identity, whose gradient is right and has itself a gradient of zero."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        flat: torch.Tensor = gradients[0].detach() + x * 0
        return flat


def _flat(x: Any) -> Any:
    differentiable = isinstance(x, torch.Tensor) and x.requires_grad
    return _Flat.apply(x) if differentiable else x  # type: ignore[no-untyped-call]


@editing("aot_autograd.double_backward.right_or_refused", base="dynamo")
def second_gradients_zero(module: fx.GraphModule) -> None:
    """The gradient of a gradient with respect to what a graph takes is zero, without a word."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node in inputs:
        with module.graph.inserting_after(inputs[-1]):
            flat = module.graph.call_function(_flat, (node,))
        node.replace_all_uses_with(flat, delete_user_cb=lambda user, flat=flat: user is not flat)
