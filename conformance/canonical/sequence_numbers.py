"""Sequence numbers in a joint graph: they tie each backward node to the forward node that it comes from."""

from __future__ import annotations

from typing import Any

from torch import fx

from conformance.canonical.operators import no_op_detaches, target_name, writes_input

HEADER = "number | operator | source | source of the forward"


def origins(graph: fx.Graph) -> list[str]:
    """One line a node that has a sequence number, in order; numbers count from 0, without gaps.

    What a release numbers first, and whether it leaves numbers out, says nothing: which nodes share one does.
    """
    dropped = no_op_detaches(graph)
    nodes = [node for node in graph.nodes if node.op == "call_function" and node not in dropped]
    nodes = [node for node in nodes if "seq_nr" in node.meta and not _says_nothing(node)]
    ranks = {number: rank for rank, number in enumerate(sorted({node.meta["seq_nr"] for node in nodes}))}
    return [
        " | ".join(
            (
                str(ranks[node.meta["seq_nr"]]),
                target_name(node.meta.get("original_aten") or node.target),
                _source(node.meta.get("source_fn_stack")),
                _source(node.meta.get("fwd_source_fn_stack")),
            )
        ).rstrip()
        for node in nodes
    ]


def _says_nothing(node: fx.Node) -> bool:
    """Whether the node comes from no call of the program: a getitem, or a write-back at the end of the graph."""
    return target_name(node.target) == "getitem" or writes_input(node)


def _source(stack: Any) -> str:
    """The function that the program called, from the node's metadata; '' where there is none."""
    if not stack:
        return ""
    _, target = stack[-1]
    return target if isinstance(target, str) else target_name(target)
