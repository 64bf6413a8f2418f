"""Mutants in what inductor's freezing folds into the weights and biases of convolutions and matmuls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch import fx
from torch._inductor.fx_passes import binary_folding, freezing_patterns
from torch._inductor.pattern_matcher import stable_topological_sort

from conformance.mutants.base import patching

aten = torch.ops.aten
INPUT, WEIGHT, BIAS = 0, 1, 2
Edit = Callable[[fx.GraphModule], None]


def before_folding(edit: Edit) -> AbstractContextManager[Any]:
    """Edit the graph whose parameters are constants by now, before any of them is folded."""
    return _beside("mark_mixed_dtype_allowed_computation_ops", edit)


def _after_folding(edit: Edit) -> AbstractContextManager[Any]:
    """Edit the graph in which constants were folded, before its convolutions and matmuls are packed."""
    return _beside("recover_original_precision_folded_computation_ops", edit)


def _beside(step: str, edit: Edit) -> AbstractContextManager[Any]:
    own = getattr(binary_folding, step)

    def stepped(module: fx.GraphModule) -> None:
        own(module)
        edit(module)
        module.graph.lint()
        module.recompile()

    return mock.patch.object(binary_folding, step, stepped)


def nodes_of(module: fx.GraphModule, target: Any) -> list[fx.Node]:
    return list(module.graph.find_nodes(op="call_function", target=target))


def _replaced(node: fx.Node, by: fx.Node) -> None:
    """Everything else that uses a node uses what was made of it."""
    node.replace_all_uses_with(by, delete_user_cb=lambda user: user is not by)


def _groups(nodes: list[fx.Node], place: int) -> list[list[fx.Node]]:
    """The nodes by what they have as the argument in this place."""
    found: dict[Any, list[fx.Node]] = {}
    for node in nodes:
        found.setdefault(node.args[place], []).append(node)
    return list(found.values())


@patching("freezing.conv_bn.folded", base="inductor")
def nothing_folded() -> Iterator[None]:
    """Nothing is folded into the weight of a convolution."""
    with mock.patch.object(freezing_patterns, "binary_folding_pass", SimpleNamespace(apply=lambda graph: None)):
        yield


def _shared_weights_split(module: fx.GraphModule) -> None:
    """Every use of a convolution's result has a convolution of its own, which remembers whose weight it shares."""
    for node in nodes_of(module, aten.convolution.default):
        for user in list(node.users)[1:]:
            with module.graph.inserting_after(node):
                user.replace_input_with(node, module.graph.node_copy(node))
    for convolution in nodes_of(module, aten.convolution.default):
        weight = convolution.args[WEIGHT]
        assert isinstance(weight, fx.Node)
        convolution.meta["weight"] = weight.name
        with module.graph.inserting_after(weight):
            own = module.graph.call_function(aten.clone.default, (weight,))
        own.meta.update(weight.meta)
        convolution.update_arg(WEIGHT, own)


def _shared_weights_joined(module: fx.GraphModule) -> None:
    """Convolutions that shared a weight all have the one that was made for the last of them, and its bias."""
    convolutions = nodes_of(module, aten.convolution.default)
    last = {node.meta["weight"]: node.args[WEIGHT:] for node in convolutions}
    for node in convolutions:
        node.args = (node.args[INPUT], *last[node.meta["weight"]])
    stable_topological_sort(module.graph)


@patching("freezing.conv_bn.with_and_without", "freezing.conv_bn.two_norms", base="inductor")
def folded_for_every_use() -> Iterator[None]:
    """What is folded into a weight for its last use is folded into it for every other."""
    with before_folding(_shared_weights_split), _after_folding(_shared_weights_joined):
        yield


@patching("freezing.conv_bn.called_twice", base="inductor")
def calls_of_one_convolution_joined() -> Iterator[None]:
    """Convolutions by one weight are taken for one, whatever they are applied to."""

    def join(module: fx.GraphModule) -> None:
        for first, *others in _groups(nodes_of(module, aten.convolution.default), WEIGHT):
            for other in others:
                other.replace_all_uses_with(first)

    with before_folding(join):
        yield


@patching("freezing.conv_bn.shared_norm", base="inductor")
def one_folded_bias_for_all() -> Iterator[None]:
    """The bias that folding makes for the first convolution is that of all others too."""

    def share(module: fx.GraphModule) -> None:
        convolutions = nodes_of(module, aten.convolution.default)
        for node in convolutions[1:]:
            node.update_arg(BIAS, convolutions[0].args[BIAS])

    with _after_folding(share):
        yield


@patching("freezing.conv_bn.norm_alone", base="inductor")
def numbers_beside_constants_lost() -> Iterator[None]:
    """A number that is added to a constant is lost when the constant is folded."""

    def lose(module: fx.GraphModule) -> None:
        for node in nodes_of(module, aten.add.Tensor):
            constant, number = node.args
            if isinstance(constant, fx.Node) and constant.op == "get_attr" and isinstance(number, float):
                node.replace_all_uses_with(constant)

    with before_folding(lose):
        yield


@patching("freezing.binary.along_channels", base="inductor")
def bias_not_scaled() -> Iterator[None]:
    """A factor that is folded into the weight of a convolution leaves its bias as it was."""

    def unscaled(module: fx.GraphModule) -> None:
        for node in nodes_of(module, aten.convolution.default):
            user, bias = next(iter(node.users)), node.args[BIAS]
            if bias is None or user.target not in (aten.mul.Tensor, aten.div.Tensor):
                continue
            node.update_arg(BIAS, None)
            with module.graph.inserting_before(user):
                row = module.graph.call_function(aten.unsqueeze.default, (bias, -1))
                rows = module.graph.call_function(aten.unsqueeze.default, (row, -1))
            with module.graph.inserting_after(user):
                added = module.graph.call_function(aten.add.Tensor, (user, rows))
            _replaced(user, added)

    with before_folding(unscaled):
        yield


@patching("freezing.linear.biases", base="inductor")
def one_bias_for_all_linears() -> Iterator[None]:
    """Linears of one input, which may run as one, all get the bias of the first."""

    def share(module: fx.GraphModule) -> None:
        for first, *others in _groups(nodes_of(module, aten.addmm.default), 1):
            for other in others:
                other.update_arg(0, first.args[0])

    with _after_folding(share):
        yield


@patching("freezing.linear.products", base="inductor")
def products_handed_out_in_reverse() -> Iterator[None]:
    """Matmuls of one input by several weights are returned in the reverse order."""

    def reverse(module: fx.GraphModule) -> None:
        for matmuls in _groups(nodes_of(module, aten.mm.default), 0):
            weights = [node.args[1] for node in matmuls]
            for node, weight in zip(matmuls, reversed(weights), strict=True):
                node.update_arg(1, weight)
        stable_topological_sort(module.graph)

    with _after_folding(reverse):
        yield


def _cast(module: fx.GraphModule, node: fx.Node, dtype: torch.dtype) -> None:
    """Everything that uses a node gets it in another dtype."""
    with module.graph.inserting_after(node):
        cast = module.graph.call_function(torch.ops.prims.convert_element_type.default, (node, dtype))
    _replaced(node, cast)


@patching("freezing.folding.dtype", base="inductor")
def dtype_of_the_weight() -> Iterator[None]:
    """The result has the dtype of the weight although what it is multiplied with is wider."""

    def narrow(module: fx.GraphModule) -> None:
        for node in nodes_of(module, aten.convolution.default):
            for user in list(node.users):
                _cast(module, user, node.meta["val"].dtype)

    with before_folding(narrow):
        yield


@patching("freezing.autocast.result", base="inductor")
def products_widened_under_autocast() -> Iterator[None]:
    """A matmul that autocast computes in half precision comes out in the dtype of the frozen weight."""

    def widen(module: fx.GraphModule) -> None:
        for node in nodes_of(module, aten.addmm.default):
            _cast(module, node, torch.float32)

    with before_folding(widen):
        yield
