"""AOTAutograd's joint, forward and backward graphs of a program, before any backend's decompositions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from conformance.canonical.graphs import Graph, Graphs
from conformance.capture.lowered_graphs import graph_caches_off


def front_end_graphs(
    program: Callable[..., Any],
    calls: Sequence[Sequence[Any]],
    *,
    dynamic: bool | None = None,
    fullgraph: bool = False,
    backward: Callable[[Sequence[Any], Any], None] | None = None,
) -> dict[str, Graphs]:
    """The graphs that AOTAutograd makes of `program`, before any backend's decompositions: joint, forward, backward.

    `calls` are argument lists built by the caller for this alone; they are consumed, as the program may mutate them.
    `backward(arguments, outputs)` runs after each call, so that backward graphs, compiled lazily, are seen. An
    exception of the program ends the tracing and is kept in the graphs' note: the oracle compares exceptions elsewhere.
    """
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import default_partition

    seen: dict[str, list[Graph]] = {"joint": [], "forward": [], "backward": []}

    def compiler(stage: str) -> Callable[..., Any]:
        def compile_recorded(module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
            seen[stage].append(Graph.of(module))
            return _boxed(module)

        return compile_recorded

    def partition(joint: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        seen["joint"].append(Graph.of(joint))
        return default_partition(joint, *args, **kwargs)

    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("forward"),
        partition_fn=partition,
        keep_inference_input_mutations=True,
        decompositions={},
    )
    note = ""
    torch._dynamo.reset()
    with graph_caches_off():
        compiled = torch.compile(program, backend=backend, dynamic=dynamic, fullgraph=fullgraph)
        for arguments in calls:
            try:
                outputs = compiled(*arguments)
                if backward is not None:
                    backward(arguments, outputs)
            except Exception as error:
                note = f"tracing ended with {type(error).__name__}"
                break
    return {stage: Graphs(stage, graphs, note=note) for stage, graphs in seen.items()}


def _boxed(module: fx.GraphModule) -> Callable[[list[Any]], Any]:
    """The graph as a function of one list, which AOTAutograd empties to free its inputs early."""

    def run(arguments: list[Any]) -> Any:
        taken = list(arguments)
        arguments.clear()
        return module(*taken)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run
