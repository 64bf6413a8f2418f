"""A backend that records the graphs it is handed and lets the stack's own backend compile them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx
from torch._dynamo.backends.common import AotAutograd
from torch._guards import TracingContext

from conformance.canonical.graphs import Graph
from conformance.capture.recorder import Recorder
from conformance.program.probe import Backend

#: What it writes before it traces, and after it has seen what the graph does to its inputs.
_AOT_NOTES = ("params_flat", "fw_metadata")


class RecordingBackend:
    """A backend for `torch.compile` that records the graph it is handed and lets another backend compile it.

    ``wrap`` is given that other backend, once it is looked up by its name, and returns the one to call.
    """

    def __init__(
        self,
        backend: str | Callable[..., Any],
        recorder: Recorder,
        wrap: Callable[[Backend], Backend] = lambda same: same,
    ) -> None:
        self.recorder = recorder
        self.compiler_name = self.__name__ = backend if isinstance(backend, str) else _callable_name(backend)
        self.is_inductor = backend == "inductor"
        self.backend = wrap(_looked_up(backend))

    def __call__(self, module: fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        self.recorder.dynamo.append(Graph.of(module))
        if self.is_inductor and options:
            options = _inductor_options(options)
        try:
            return self.backend(module, inputs, **options)
        finally:
            self.recorder.through_aot_autograd |= _aot_autograd_was_here()

    def __getattr__(self, name: str) -> Any:
        # What torch.compile reads off a backend (get_compiler_config, reset) is the wrapped backend's.
        if name == "backend":
            raise AttributeError(name)
        return getattr(self.backend, name)


def _aot_autograd_was_here() -> bool:
    """Whether AOTAutograd has written down, for the graph that Dynamo is compiling, what it found out about it."""
    context = TracingContext.try_get()
    return context is not None and any(getattr(context, name, None) is not None for name in _AOT_NOTES)


def _looked_up(backend: str | Callable[..., Any]) -> Callable[..., Any]:
    if isinstance(backend, AotAutograd):
        # Up to torch 2.10 it wraps its backward compiler once more for every graph, until Python's stack is full: a
        # run gets one as it is at first, as in a process of its own.
        fresh = copy.copy(backend)
        fresh.kwargs = copy.copy(backend.kwargs)
        return fresh
    if callable(backend):
        return backend
    from torch._dynamo.backends.registry import lookup_backend

    found: Callable[..., Any] = lookup_backend(backend)
    return found


def _callable_name(backend: Callable[..., Any]) -> str:
    return str(getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None) or type(backend).__name__)


def _inductor_options(options: dict[str, Any]) -> dict[str, Any]:
    """`torch.compile(mode=, options=)` for the registered function, which takes config patches instead."""
    from torch._inductor import list_mode_options

    patches = dict(list_mode_options(options["mode"])) if options.get("mode") else {}
    patches.update({name.replace("-", "_"): value for name, value in (options.get("options") or {}).items()})
    return {"config_patches": patches} if patches else {}
