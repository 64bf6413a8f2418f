"""Canonical text of a graph, and structural queries on it: the same text from every torch release and device.

One node a line. Names come from the operator and are numbered again, dtype and shape follow the name, strides only when
not contiguous, devices only when a graph has more than one; symbolic sizes are renamed in order of appearance; what
carries no meaning (unused names, comments, chains of detach, default keyword arguments) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

from torch import fx, nn

from conformance.canonical.expect import Expectable
from conformance.canonical.rendering import Rendering
from conformance.canonical.sequence_numbers import HEADER, origins
from conformance.canonical.tensor_types import Symbols


class Graph(Expectable):
    """One graph, rendered when it is made: passes that change the module later do not change the text."""

    def __init__(self, text: str, ops: Sequence[str], origins: Sequence[str] = ()) -> None:
        super().__init__("graph", text)
        #: The operators' names in order, those of nested graphs included.
        self.ops = list(ops)
        #: A line for each node that has a sequence number.
        self.origins = list(origins)

    @classmethod
    def of(cls, module: Any) -> Graph:
        """Render a `GraphModule`, an `fx.Graph` or an exported program."""
        module = getattr(module, "graph_module", module)
        graph = module if isinstance(module, fx.Graph) else module.graph
        owner = module if isinstance(module, nn.Module) else graph.owning_module
        rendering = Rendering(graph, owner, Symbols())
        return cls("\n".join(rendering.lines()), rendering.ops, origins(graph))

    def count(self, op: str) -> int:
        """How many nodes apply `op`: whole words of the operator's name, so `mm` is not `addmm`.

        `convolution` is also found in `mkldnn._convolution_pointwise`, and not in `convolution_backward`.
        """
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(op)}(?![A-Za-z0-9])(?!_backward)")
        return sum(1 for name in self.ops if pattern.search(name))

    def absent(self, fragment: str) -> bool:
        """Whether no operator's name contains `fragment`."""
        return not any(fragment in name for name in self.ops)

    def __repr__(self) -> str:
        return f"<{self.subject} of {len(self.ops)} ops>"


class Graphs(Expectable, Sequence[Graph]):
    """The graphs seen at one stage, in order; their text is the graphs' texts with a blank line between them."""

    def __init__(self, stage: str, graphs: Iterable[Graph] = (), *, note: str = "", device: str | None = None) -> None:
        self.stage = stage
        self.graphs = list(graphs)
        #: Why graphs may be lacking, for messages.
        self.note = note
        self._slices: dict[str, Graphs] = {}
        for number, graph in enumerate(self.graphs):
            if graph.subject == "graph":
                graph.subject = f"{stage} graph {number}"
            graph.device = device and device.partition(":")[0]
        subject = f"{stage} graph" if len(self.graphs) == 1 else f"{stage} graphs"
        text = "\n\n".join(graph.text for graph in self.graphs) or "(no graph)"
        super().__init__(f"{subject} ({note})" if note else subject, text, device=device)

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice) -> Graphs: ...
    def __getitem__(self, index: int | slice) -> Graph | Graphs:
        if isinstance(index, slice):
            # The same object each time: expectations on one subject are counted together.
            return self._slices.setdefault(str(index), self._slice(index))
        return self.graphs[index]

    def _slice(self, index: slice) -> Graphs:
        return Graphs(self.stage, self.graphs[index], note=self.note, device=self.device)

    def __len__(self) -> int:
        return len(self.graphs)

    def __iter__(self) -> Iterator[Graph]:
        return iter(self.graphs)

    @cached_property
    def operators(self) -> Expectable:
        """The operators alone, one a line: the text that a family of dtypes and shapes has in common."""
        text = "\n".join(op for graph in self.graphs for op in graph.ops) or "(no operator)"
        return Expectable(f"{self.stage} operators", text, device=self.device)

    @cached_property
    def origins(self) -> Expectable:
        """The table of sequence numbers: what each node computes, and which call of the program it comes from."""
        lines = [line for graph in self.graphs for line in (HEADER, *graph.origins)]
        return Expectable(f"{self.stage} origins", "\n".join(lines) or "(no graph)", device=self.device)

    def count(self, op: Any) -> int:
        """How many nodes of all graphs apply `op` (see `Graph.count`)."""
        return sum(graph.count(op) for graph in self.graphs)

    def absent(self, fragment: str) -> bool:
        """Whether no operator's name in any graph contains `fragment`."""
        return all(graph.absent(fragment) for graph in self.graphs)
