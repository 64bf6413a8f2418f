"""What compilation did: graphs handed over, recompiles and their reasons, graph breaks, seconds, lowered graphs.

Private torch is used in few places, each with a fallback or an error that names the release; `recording` restores
everything when it ends.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from conformance.canonical.graphs import Graph
from conformance.capture.lowered_graphs import graph_caches_off, lowered_listener
from conformance.capture.structured_trace import trace_listener
from conformance.program.probe import Probe


@dataclass
class Recorder:
    """Everything seen while one compiled program ran."""

    #: As handed to the stack's backend, in order.
    dynamo: list[Graph] = field(default_factory=list)
    #: One canonical text per recompile.
    recompiles: list[str] = field(default_factory=list)
    #: One canonical text per graph break.
    graph_breaks: list[str] = field(default_factory=list)
    #: How many guards of each kind each compilation has.
    guards: list[Counter[str]] = field(default_factory=list)
    #: Inductor's graphs after post-grad passes and freezing.
    lowered: list[Graph] = field(default_factory=list)
    #: What each probe of the program saw.
    probes: dict[Probe, list[Any]] = field(default_factory=dict)
    compile_seconds: float = 0.0
    #: Whether AOTAutograd compiled anything inside the backend.
    through_aot_autograd: bool = False

    def seen_by(self, probe: Probe) -> list[Any]:
        """The list that a probe writes what it sees into."""
        return self.probes.setdefault(probe, [])

    @property
    def compiles(self) -> int:
        return len(self.dynamo)


@contextmanager
def recording(recorder: Recorder, *, lowered: bool = False) -> Iterator[Recorder]:
    """Record into `recorder` what Dynamo, and with `lowered` inductor, compile inside.

    Do not call `torch._dynamo.reset()` inside: it forgets the callbacks that measure `compile_seconds`. With `lowered`
    the caches of whole graphs are off, because a graph that comes from a cache is lowered nowhere.
    """
    with ExitStack() as stack:
        stack.enter_context(trace_listener(recorder.recompiles, recorder.graph_breaks, recorder.guards))
        stack.enter_context(_compile_clock(recorder))
        if lowered:
            stack.enter_context(graph_caches_off())
            stack.enter_context(lowered_listener(recorder.lowered))
        yield recorder


@contextmanager
def _compile_clock(recorder: Recorder) -> Iterator[None]:
    """Add up the time of outermost compilations, those of a backward that is compiled lazily included."""
    try:
        from torch._dynamo.callback import callback_handler
    except ImportError:  # the seconds are for the report only
        yield
        return
    started: list[float] = []

    def start(_: Any = None) -> None:
        started.append(time.perf_counter())

    def end(_: Any = None) -> None:
        if started:
            recorder.compile_seconds += time.perf_counter() - started.pop()

    callback_handler.register_start_callback(start)
    callback_handler.register_end_callback(end)
    try:
        yield
    finally:
        for callbacks, callback in ((callback_handler.start_callbacks, start), (callback_handler.end_callbacks, end)):
            if callback in callbacks:  # a reset in between has dropped them
                callbacks.remove(callback)
