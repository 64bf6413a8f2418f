"""A backward run with the hooks by which AOTAutograd marks, while it traces, what a backward function computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.fx import traceback

from conformance.facts import as_tuple
from conformance.observe import run_backward
from conformance.programs import Program
from conformance.structure import leaves

#: The keys under which the hooks keep which function's backward runs.
MARKS = ("grad_fn_seq_nr", "in_grad_fn")


def marked(program: Program, lines: list[str]) -> Program:
    """The program with a marked backward, which adds to ``lines`` the marks seen in it and those left after it."""

    def backward(outputs: list[Any]) -> None:
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
            run_backward(program, outputs)
            left = set(traceback.get_current_meta())
        for handle in handles:
            handle.remove()
        lines.append(f"in the backward: {_text(seen)}")
        lines.append(f"after it: {_text(left)}")

    return replace(program, backward=backward, marked=False)


def _text(keys: set[str]) -> str:
    return ", ".join(key for key in MARKS if key in keys) or "(no mark)"
