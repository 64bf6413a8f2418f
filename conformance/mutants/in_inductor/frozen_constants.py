"""Mutants in what freezing takes for a constant: mutated parameters, symbolic sizes, weights unasked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
import torch._inductor.config
from torch import fx
from torch._inductor import freezing
from torch.utils._python_dispatch import _disable_current_modes

from conformance.mutants.base import editing, patching
from conformance.mutants.in_inductor.conv_folding import before_folding, nodes_of

aten = torch.ops.aten


@patching("freezing.folding.mutated_parameter", base="inductor")
def mutated_parameters_frozen() -> Iterator[None]:
    """A parameter that the program mutates is read as it was when the program was compiled."""
    own = freezing.replace_params_with_constants

    def replaced(module: fx.GraphModule, parameters: list[torch.Tensor], metadata: Any) -> Any:
        for number, node in enumerate(list(module.graph.find_nodes(op="placeholder"))[: len(parameters)]):
            reads = [user for user in node.users if user.target is not aten.copy_.default]
            if len(reads) < len(node.users):
                with _disable_current_modes():
                    module.register_buffer(f"frozen_{number}", parameters[number].detach().clone())
                with module.graph.inserting_after(node):
                    constant = module.graph.get_attr(f"frozen_{number}")
                constant.meta.update(node.meta)
                node.replace_all_uses_with(constant, delete_user_cb=lambda user, reads=reads: user in reads)
        return own(module, parameters, metadata)

    with mock.patch.object(freezing, "replace_params_with_constants", replaced):
        yield


@patching("freezing.parameters.discarded", base="inductor")
def parameters_kept() -> Iterator[None]:
    """Parameters are not discarded although the configuration says so."""
    with mock.patch.object(freezing, "invalidate_eager_modules", return_value=None):
        yield


@patching("freezing.weights.followed_unfrozen", base="inductor")
def frozen_unasked() -> Iterator[None]:
    """Weights are frozen although the configuration says not to."""
    with torch._inductor.config.patch(freezing=True):
        yield


@patching("freezing.folding.symbolic_sizes", base="inductor")
def sizes_of_the_first_call() -> Iterator[None]:
    """A size that is symbolic is folded to what it is in the first call."""

    def fold(module: fx.GraphModule) -> None:
        for node in nodes_of(module, aten.full.default):
            sizes = [size.meta["val"].node.hint if isinstance(size, fx.Node) else size for size in node.args[0]]  # type: ignore[union-attr]
            node.update_arg(0, sizes)

    with before_folding(fold):
        yield


@editing("freezing.constants.other_device")
def moved_constants_not_converted(module: fx.GraphModule) -> None:
    """A constant that is moved to the device of the inputs keeps its own dtype."""
    for node in module.graph.find_nodes(op="call_method", target="to"):
        node.args = node.args[:2]
