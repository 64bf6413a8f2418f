"""A backend behind AOTAutograd's `aot_export_joint_simple`: it compiles what that export makes of Dynamo's graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

from torch import fx

from conformance.canonical.graphs import Graph, Graphs
from conformance.program.probe import Backend, Probe


@dataclass(frozen=True)
class JointExport(Probe):
    """The stack's backend exports each graph first, without its backward."""

    of_compilation = True

    def wrap_compiler(self, backend: Backend, seen: list[Graph]) -> Backend:
        return exporting(backend, lambda graph: seen.append(Graph.of(graph)))

    def show(self, seen: list[Graph]) -> Graphs:
        """What the simple export made of the graphs that Dynamo handed over."""
        return Graphs("exported", seen)


def exporting(backend: Backend, look: Callable[[Any], None]) -> Callable[..., Any]:
    """A backend that exports each graph, looks at it, and lets ``backend`` compile it."""

    def export_and_compile(module: fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        from torch._functorch.aot_autograd import aot_export_joint_simple
        from torch._guards import detect_fake_mode

        mode = detect_fake_mode(inputs)
        assert mode is not None, "Dynamo hands fake tensors to a backend"
        with mock.patch.object(mode, "allow_non_fake_inputs", True), mode:
            graph = aot_export_joint_simple(module, tuple(inputs), trace_joint=False)
        look(graph)
        return backend(graph, inputs, **options)

    return export_and_compile
