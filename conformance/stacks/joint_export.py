"""A stack behind the simple export of AOTAutograd: its backend is handed what the export makes of Dynamo's graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

from torch import fx

from conformance.graphs import Graph
from conformance.stacks.base import Stack


def behind_joint_export(stack: Stack, exported: list[Graph]) -> Stack:
    """The stack with a backend that exports each graph first, without its backward, and records it in ``exported``."""
    if stack.backend is None:
        return stack
    return replace(stack, backend=_exporting(stack.backend, exported))


def _exporting(backend: str | Callable[..., Any], exported: list[Graph]) -> Callable[..., Any]:
    def export_and_compile(module: fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        from torch._dynamo.backends.registry import lookup_backend
        from torch._functorch.aot_autograd import aot_export_joint_simple
        from torch._guards import detect_fake_mode

        mode = detect_fake_mode(inputs)
        assert mode is not None, "Dynamo hands fake tensors to a backend"
        with mock.patch.object(mode, "allow_non_fake_inputs", True), mode:
            graph = aot_export_joint_simple(module, tuple(inputs), trace_joint=False)
        exported.append(Graph.of(graph))
        compiler: Any = lookup_backend(backend) if isinstance(backend, str) else backend
        return compiler(graph, inputs, **options)

    return export_and_compile
