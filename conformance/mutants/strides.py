"""Layouts that show: gradients and operators that get other strides, and strides that were right for another size."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around, editing


@around("layout.gradients.eager_strides")
def gradients_restrided(compiled: Compiled) -> Compiled:
    """A gradient comes with its last two dimensions laid out the other way round."""

    def restrided(gradient: torch.Tensor) -> torch.Tensor:
        return gradient.mT.contiguous().mT if gradient.dim() > 1 else gradient

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        for leaf in pytree.tree_leaves((args, kwargs)):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                leaf.register_hook(restrided)  # type: ignore[no-untyped-call]
        return compiled(*args, **kwargs)

    return called


@around("layout.dynamic_shapes.one_compile")
def strides_of_first_size(compiled: Compiled) -> Compiled:
    """Outputs of every call have the strides that were right for the first."""
    first: list[tuple[int, ...] | None] = []

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytree.tree_flatten(compiled(*args, **kwargs))
        if not first:
            first.extend(leaf.stride() if isinstance(leaf, torch.Tensor) else None for leaf in leaves)
            return pytree.tree_unflatten(leaves, spec)
        kept = [
            leaf if stride is None else leaf.new_empty_strided(leaf.shape, stride).copy_(leaf)
            for leaf, stride in zip(leaves, first, strict=True)
        ]
        return pytree.tree_unflatten(kept, spec)

    return called


def _made_contiguous(module: fx.GraphModule, user: fx.Node, used: fx.Node) -> None:
    with module.graph.inserting_before(user):
        user.replace_input_with(used, module.graph.call_method("contiguous", (used,)))


@editing("layout.custom_operators.exact_strides")
def operators_handed_contiguous_tensors(module: fx.GraphModule) -> None:
    """Custom operators are handed contiguous tensors, whatever they ask for."""
    for node in list(module.graph.nodes):
        if str(node.target).startswith("conformance_layout."):
            _made_contiguous(module, node, node.args[0])


@editing("layout.outputs.strides_of_images")
def images_made_contiguous(module: fx.GraphModule) -> None:
    """Convolutions and norms are handed contiguous images."""
    for node in list(module.graph.nodes):
        if node.target in (torch.conv2d, torch.nn.functional.batch_norm):
            _made_contiguous(module, node, node.args[0])
