"""Listens to torch's structured trace for recompiles, graph breaks and guards."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import mock

import torch
import torch._dynamo
import torch._logging

from conformance.capture.guard_counts import count_guards
from conformance.capture.lowered_graphs import CaptureUnavailable
from conformance.capture.recompile_reasons import canonical_break, canonical_recompile

_TRACE = logging.getLogger("torch.__trace")
#: The records that are read: one of its own name, and artifacts.
GUARDS, RECOMPILE, BREAK = "dynamo_cpp_guards_str", "recompile_reasons", "dynamo_graph_break_reason"
ARTIFACTS = (RECOMPILE, BREAK)


class _TraceHandler(logging.Handler):
    """Listens to torch's structured trace, the one record of graph breaks and reasons that all releases share."""

    def __init__(self, recompiles: list[str], graph_breaks: list[str], guards: list[Counter[str]]) -> None:
        super().__init__(logging.DEBUG)
        self.guards = guards
        self.recompiles = recompiles
        self.graph_breaks = graph_breaks
        self.breaks: set[tuple[Any, ...]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        artifact = metadata.get("artifact") if isinstance(metadata, dict) else None
        name = artifact.get("name") if isinstance(artifact, dict) else None
        payload = getattr(record, "payload", None)
        if isinstance(metadata, dict) and GUARDS in metadata and isinstance(payload, str):
            self.guards.append(count_guards(payload))
        if name is None or not isinstance(metadata, dict) or not isinstance(payload, str):
            return
        if name == RECOMPILE:
            self.recompiles.append(canonical_recompile(_reasons(payload)))
        elif name == BREAK:
            # Tracing restarts at a break and may meet it again in the same frame.
            place = (metadata.get("frame_id"), metadata.get("frame_compile_id"), payload.splitlines()[:1])
            key = tuple(map(str, place))
            if key not in self.breaks:
                self.breaks.add(key)
                self.graph_breaks.append(canonical_break(payload))


def _reasons(payload: str) -> list[str]:
    """The reasons of one recompile: a JSON list, or from 2.13 on the plain text when there is one."""
    if payload.startswith("["):
        try:
            return [str(reason) for reason in json.loads(payload)]
        except ValueError:
            pass
    return [payload]


@contextmanager
def trace_listener(recompiles: list[str], graph_breaks: list[str], guards: list[Counter[str]]) -> Iterator[None]:
    """Append the canonical reason of each recompile and graph break inside, and count the guards of each compilation.

    The handler is installed only while the records of interest are written: as long as there is one, torch writes out
    every graph and kernel, which took 8% of the time of a case. Logger and function are put back afterwards.
    """
    handler = _TraceHandler(recompiles, graph_breaks, guards)
    traced: Callable[..., None] = vars(torch._logging)["trace_structured"]

    def listened(name: str, metadata_fn: Callable[[], Any] = dict, **rest: Any) -> None:
        if name == GUARDS or (name == "artifact" and metadata_fn().get("name") in ARTIFACTS):
            with _attached(handler):
                traced(name, metadata_fn, **rest)
        else:
            traced(name, metadata_fn, **rest)

    with mock.patch.object(torch._logging, "trace_structured", listened):
        yield


@contextmanager
def _attached(handler: logging.Handler) -> Iterator[None]:
    level, propagate, disabled = _TRACE.level, _TRACE.propagate, _TRACE.disabled
    _TRACE.addHandler(handler)
    _TRACE.setLevel(logging.DEBUG)
    _TRACE.propagate = _TRACE.disabled = False
    try:
        yield
    finally:
        _TRACE.removeHandler(handler)
        _TRACE.setLevel(level)
        _TRACE.propagate, _TRACE.disabled = propagate, disabled


@cache
def check_capture() -> None:
    """Raise `CaptureUnavailable` where a recompile, a graph break or guards that must be recorded are not.

    Without its record a recompile would be counted as none, and every promise about it would look kept. One program
    that has all of them tells, once in a process. It leaves Dynamo reset.
    """

    def program(x: torch.Tensor, number: int) -> torch.Tensor:
        x = x + number
        torch._dynamo.graph_break()
        return x + 1

    seen: tuple[list[str], list[str], list[Counter[str]]] = ([], [], [])
    torch._dynamo.reset()
    with trace_listener(*seen), torch._dynamo.config.patch(error_on_recompile=False, disable=False):
        compiled = torch.compile(program, backend="eager", dynamic=False)
        for number in (1, 2):
            compiled(torch.zeros(1), number)
    torch._dynamo.reset()
    names = ("recompiles", "graph breaks", "guards")
    lacking = [name for name, records in zip(names, seen, strict=True) if not records]
    if lacking:
        raise CaptureUnavailable(
            f"capture unavailable: torch {torch.__version__} records no {' and no '.join(lacking)}"
        )
