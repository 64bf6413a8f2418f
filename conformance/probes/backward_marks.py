"""Runs a backward under the hooks with which AOTAutograd, while tracing, marks the nodes of each backward function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import traceback

from conformance.canonical.expect import Expectable
from conformance.oracle.tensor_facts import as_tuple
from conformance.program.nested_values import leaves
from conformance.program.probe import Probe

#: The keys under which the hooks keep which function's backward runs.
MARKS = ("grad_fn_seq_nr", "in_grad_fn")


@dataclass(frozen=True)
class BackwardMarks(Probe):
    """Runs the backward with the hooks by which AOTAutograd marks what it traces."""

    def wrap_backward(self, backward: Callable[[list[Any]], None], seen: list[str]) -> Callable[[list[Any]], None]:
        return marked(backward, seen)

    def show(self, seen: list[str]) -> Expectable:
        """The marks in force while the backward ran, and those it left behind."""
        return Expectable("marks", "\n".join(seen) or "(not marked)")


def marked(backward: Callable[[list[Any]], None], lines: list[str]) -> Callable[[list[Any]], None]:
    """A marked backward, which adds to ``lines`` the marks seen in it and those left after it."""

    def run_marked(outputs: list[Any]) -> None:
        from torch._functorch._aot_autograd.logging_utils import setup_stacktrace_preservation_hooks

        functions = [
            leaf.grad_fn
            for output in outputs
            for _, leaf in leaves(as_tuple(output), "")
            if isinstance(leaf, torch.Tensor) and leaf.grad_fn is not None
        ]
        seen: set[str] = set()

        def look(_: Any) -> None:
            seen.update(traceback.get_current_meta())

        with traceback.preserve_node_meta():
            setup_stacktrace_preservation_hooks(functions)
            # Hooks run in the order in which they were registered: these see what the others have set.
            handles = [function.register_prehook(look) for function in functions]
            backward(outputs)
            left = set(traceback.get_current_meta())
        for handle in handles:
            handle.remove()
        lines.append(f"in the backward: {_text(seen)}")
        lines.append(f"after it: {_text(left)}")

    return run_marked


def _text(keys: set[str]) -> str:
    return ", ".join(key for key in MARKS if key in keys) or "(no mark)"
