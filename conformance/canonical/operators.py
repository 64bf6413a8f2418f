"""Names of operators that are the same in every release, and the nodes that the canonical text leaves out."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import torch
from torch import fx


def target_name(target: Any) -> str:
    """The operator's name without its overload: `aten.expand`, `sin`, `set_grad_enabled`."""
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target._schema.name).replace("::", ".")
    if isinstance(target, torch._ops.OpOverloadPacket):
        return str(target._qualified_op_name).replace("::", ".")
    if fused := _fused(target):
        return fused
    name = getattr(target, "__name__", None) or getattr(target, "_name", None) or type(target).__name__
    return "set_grad_enabled" if name == "_set_grad_enabled" else str(name)


def _fused(target: Any) -> str | None:
    """Inductor's fusions are functions made for one match: named after the operators that they replaced."""
    match = next(iter(getattr(target, "args", ())), None) if isinstance(target, partial) else None
    match = match or getattr(getattr(target, "__wrapped__", None), "match", None)
    nodes = getattr(match, "nodes", None)
    if not nodes:
        return None
    return "fused[" + " + ".join(target_name(node.target) for node in nodes if callable(node.target)) + "]"


def word(op: str) -> str:
    """The name that a node takes from its operator."""
    if op.startswith("fused["):
        return "fused"
    return re.sub(r"\W", "_", op.rsplit(".", 1)[-1]) or "node"


def writes_input(node: fx.Node) -> bool:
    """Whether the node is functionalization's write-back of a mutated input."""
    return node.target is torch.ops.aten.copy_.default and getattr(node.args[0], "op", "") == "placeholder"


def no_op_detaches(graph: fx.Graph) -> dict[fx.Node, fx.Node]:
    """Detach nodes of an AOT graph that change nothing, each with its input.

    Autograd is over in such a graph. A detach of an input that is handed out still says that the output is an alias,
    not the input itself; every other one is left over from saving tensors, in numbers that differ by release.
    """
    dropped: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        if node.target is torch.ops.aten.detach.default and isinstance(node.args[0], fx.Node):
            root = dropped.get(node.args[0], node.args[0])
            if root.op != "placeholder" or not any(user.op == "output" for user in node.users):
                dropped[node] = root
    return dropped
