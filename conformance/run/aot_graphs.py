"""The AOT graphs of a program, traced in front of any backend: one text for every stack and device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from conformance.canonical.graphs import Graphs
from conformance.capture.aot_graphs import front_end_graphs
from conformance.oracle.side import run_backward
from conformance.oracle.state.global_state import dispatch_restored, global_state_restored
from conformance.oracle.state.reachable_state import Watched
from conformance.program.programs import Calls, Program, build_calls
from conformance.stacks.skipped_logging import logs_left_out

_TRACED: dict[Any, dict[str, Graphs]] = {}


def front_end(
    program: Program, calls: Calls, device: str, patch: AbstractContextManager[Any] | None = None
) -> dict[str, Graphs]:
    """The AOT graphs of a program, traced apart from any stack and once per program, call sequence and device.

    With a ``patch`` they are traced under it, for this once.
    """
    if patch is not None:
        with patch:
            return _trace(program, calls, device)
    gradients = (program.inference, program.backward, program.tangent)
    options = (program.dynamic, program.fullgraph, program.probes, *gradients)
    key = (program.function, program.make, *options, calls, device)
    try:
        traced = _TRACED.get(key)
    except TypeError:  # something in it cannot be a key: trace it each time
        return _trace(program, calls, device)
    if traced is None:
        traced = _TRACED[key] = _trace(program, calls, device)
    # Fresh objects: expectations on one subject are counted per case.
    return {stage: Graphs(stage, graphs, note=graphs.note) for stage, graphs in traced.items()}


def _trace(program: Program, calls: Calls, device: str) -> dict[str, Graphs]:
    with global_state_restored(), logs_left_out(), program.around_side():
        built = program.build(device)
        watched = Watched(built)
        sequence = build_calls(calls, device)
        outputs: list[Any] = []

        def one_backward(_: Any, output: Any) -> None:
            outputs.append(output)
            if len(outputs) == len(sequence):
                run_backward(program, outputs)

        try:
            with dispatch_restored(), program.grad_mode():
                return front_end_graphs(
                    wrapped(built, program, calls, device),
                    [call.args for call in sequence],
                    dynamic=program.dynamic,
                    fullgraph=program.fullgraph,
                    backward=one_backward if program.runs_backward else None,
                )
        finally:
            watched.restore()


def wrapped(built: Callable[..., Any], program: Program, calls: Calls, device: str) -> Callable[..., Any]:
    """The built program as wrapped by its probes: this is what is compiled."""
    for probe in program.probes:
        built = probe.wrap_program(built, program, calls, device)
    return built
