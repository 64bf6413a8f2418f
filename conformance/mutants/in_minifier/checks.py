"""Mutants of what the minifier's checks run and compare, and of what they make of a graph that fails otherwise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.config
from torch import fx
from torch._dynamo import debug_utils
from torch._dynamo.repro import after_dynamo

from conformance.mutants.base import in_steps, replacing


@in_steps("minifier.accuracy.right_results")
def inputs_shared_by_the_runs() -> None:
    """The runs that are compared get the same inputs, so that the second sees what the first wrote."""

    @replacing(debug_utils, "clone_inputs_retaining_gradness")
    def clone(own: Any, inputs: Any) -> Any:
        return list(inputs)


@in_steps("minifier.accuracy.wrong_gradients")
def backward_never_compared() -> None:
    """Only the forward is run and compared."""
    torch._dynamo.config.repro_forward_only = True


@in_steps("minifier.after_dynamo.without_gradients")
def backward_always_run() -> None:
    """Every check runs a backward, also of results that require no grad."""
    import torch._dynamo.testing

    @replacing(torch._dynamo.testing, "requires_bwd_pass")
    def requires(own: Any, out: Any) -> bool:
        return True


@in_steps("minifier.after_dynamo.complex_results")
def complex_results_refused() -> None:
    """A graph is not run whose result is complex."""

    @replacing(after_dynamo, "run_fwd_maybe_bwd")
    def run(own: Any, graph: Any, args: Any, *more: Any, **options: Any) -> Any:
        results = own(graph, args, *more, **options)
        if any(torch.is_complex(result) for result in results[0]):
            raise TypeError("complex")
        return results


@in_steps("minifier.after_dynamo.first_fault")
def other_failure_followed() -> None:
    """A graph that does not compile is taken for one with wrong results."""

    @replacing(after_dynamo, "backend_accuracy_fails")
    def fails(own: Any, graph: Any, inputs: Any, compiler: Any, **options: Any) -> bool:
        try:
            compiler(fx.GraphModule(graph, graph.graph), inputs)
        except Exception:
            return True
        return bool(own(graph, inputs, compiler, **options))


@in_steps("minifier.after_dynamo.checkpoints")
def checkpoints_left_empty() -> None:
    """The repro is written, and the checkpoints are left empty."""

    @replacing(after_dynamo, "dump_backend_repro_as_file")
    def dump(own: Any, *args: Any, **options: Any) -> None:
        own(*args, **options)
        for written in Path("checkpoints").glob("*.py"):
            written.write_text("", encoding="utf-8")


@in_steps("minifier.after_dynamo.never_empty")
def minified_to_nothing() -> None:
    """The repro holds a graph that returns its inputs."""

    @replacing(after_dynamo, "dump_backend_state")
    def dump(own: Any, graph: Any, args: Any, *more: Any, **options: Any) -> None:
        empty = fx.Graph()
        empty.output(tuple(empty.placeholder(f"in{index}") for index in range(len(args))))
        own(fx.GraphModule(graph, empty), args, *more, **options)


@in_steps("minifier.after_dynamo.children")
def strings_lost() -> None:
    """Strings among the arguments of functions are written without their quotes."""

    @replacing(debug_utils.NNModuleToString, "convert")
    def convert(own: Any, graph: fx.GraphModule, **options: Any) -> str:
        return re.sub(r", '(\w+)',", r", \1,", own(graph, **options))
