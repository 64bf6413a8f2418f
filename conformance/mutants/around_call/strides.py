"""Layouts that show: outputs, gradients, inputs and operators with other strides, and offsets that are forgotten."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around, editing
from conformance.mutants.wrappers import on_outputs, tensors_in, with_arguments


def _columns_first(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.mT.contiguous().mT if tensor.dim() > 1 else tensor


def _on_gradients(compiled: Compiled, laid_out: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Compiled:
    """Every gradient of an argument goes through a function of the argument and the gradient."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        for leaf in tensors_in((args, kwargs)):
            if leaf.requires_grad:
                leaf.register_hook(functools.partial(laid_out, leaf.detach()))  # type: ignore[no-untyped-call]
        return compiled(*args, **kwargs)

    return called


@around("layout.gradients.eager_strides")
def gradients_restrided(compiled: Compiled) -> Compiled:
    """A gradient comes with its last two dimensions laid out the other way round."""
    return _on_gradients(compiled, lambda argument, gradient: _columns_first(gradient))


@around("layout.gradients.of_products")
def gradients_laid_out_as_arguments(compiled: Compiled) -> Compiled:
    """A gradient has the strides of the tensor that it is the gradient of."""
    return _on_gradients(compiled, lambda argument, gradient: torch.empty_like(argument).copy_(gradient))


@around("layout.outputs.strides_of_products")
def outputs_restrided(compiled: Compiled) -> Compiled:
    """An output comes with its last two dimensions laid out the other way round."""
    return on_outputs(compiled, _columns_first)


@around("layout.inputs.own_strides")
def mutated_inputs_made_contiguous(compiled: Compiled) -> Compiled:
    """A tensor that was passed and written to is contiguous after the call."""

    def contiguous(tensors: list[torch.Tensor]) -> Iterator[None]:
        versions = [tensor._version for tensor in tensors]
        yield
        for tensor, version in zip(tensors, versions, strict=True):
            if tensor._version != version:
                tensor.data = tensor.detach().contiguous()

    return with_arguments(compiled, contiguous)


def _from_start(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.as_strided(tensor.shape, tensor.stride(), 0)


@around("layout.offsets.alignment")
def inputs_read_from_the_start(compiled: Compiled) -> Compiled:
    """An input is read from the start of its storage, wherever in it the input starts."""
    return lambda *args: compiled(*map(_from_start, args))


@around("layout.offsets.mutation")
def misaligned_inputs_copied(compiled: Compiled) -> Compiled:
    """An input that starts at no multiple of 16 bytes is copied to one that does, and never copied back."""
    return lambda *args: compiled(*(arg.clone() if arg.data_ptr() % 16 else arg for arg in args))


@around("layout.offsets.views")
def views_at_the_start_of_the_storage(compiled: Compiled) -> Compiled:
    """A view that is returned begins where its storage begins."""
    return on_outputs(compiled, _from_start)


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


@editing("layout.custom_operators.stride_order")
def operators_handed_reversed_tensors(module: fx.GraphModule) -> None:
    """Custom operators are handed tensors whose first dimension has the smallest stride."""
    for node in list(module.graph.nodes):
        if str(node.target).startswith("conformance_layout."):
            reversed_, laid_out = range(3, -1, -1), node.args[0]
            with module.graph.inserting_before(node):
                for method, *arguments in (("permute", *reversed_), ("contiguous",), ("permute", *reversed_)):
                    laid_out = module.graph.call_method(method, (laid_out, *arguments))
            node.update_arg(0, laid_out)


@editing("layout.outputs.strides_of_images")
def images_made_contiguous(module: fx.GraphModule) -> None:
    """Convolutions and norms are handed contiguous images."""
    for node in list(module.graph.nodes):
        if node.target in (torch.conv2d, torch.nn.functional.batch_norm):
            _made_contiguous(module, node, node.args[0])


@editing("layout.outputs.strides_of_reductions")
def softmax_laid_out_as_its_input(module: fx.GraphModule) -> None:
    """A softmax has the strides of what it is computed from."""
    for node in module.graph.find_nodes(op="call_method", target="softmax"):
        with module.graph.inserting_after(node):
            like = module.graph.call_function(torch.empty_like, (node.args[0],))
        with module.graph.inserting_after(like):
            copied = module.graph.call_method("copy_", (like, node))
        node.replace_all_uses_with(copied, delete_user_cb=lambda user, copied=copied: user is not copied)


@editing("layout.outputs.strides_of_selections")
def selections_of_contiguous_tensors(module: fx.GraphModule) -> None:
    """What is joined, indexed or chosen from is made contiguous first."""
    for node in list(module.graph.nodes):
        if node.target in (torch.cat, torch.where, operator.getitem):
            for used in node.all_input_nodes:
                _made_contiguous(module, node, used)
