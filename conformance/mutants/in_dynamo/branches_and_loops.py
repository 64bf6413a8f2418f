"""Mutants of control flow operators in the graph that Dynamo captured."""

from __future__ import annotations

from torch import fx

from conformance.canonical.operators import target_name
from conformance.mutants.base import editing


@editing("aot_autograd.control_flow.gradients")
def branches_exchanged(module: fx.GraphModule) -> None:
    """The branch that is taken is the other one."""
    for node in module.graph.nodes:
        if target_name(node.target) == "cond":
            predicate, first, second, *operands = node.args
            node.args = (predicate, second, first, *operands)


@editing("aot_autograd.control_flow.loops")
def loops_left_at_once(module: fx.GraphModule) -> None:
    """A loop ends with what it began with."""
    for node in list(module.graph.nodes):
        if target_name(node.target) == "while_loop":
            for result in list(node.users):
                result.replace_all_uses_with(node.args[2][result.args[1]])
