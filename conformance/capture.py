"""What compilation did: graphs handed over, recompiles and their reasons, graph breaks, seconds, lowered graphs.

Private torch is touched at few points, each with a fallback or an error that names the release; `recording` puts
everything back when it ends.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch import fx

from conformance.graphs import Graph, Graphs
from conformance.reasons import canonical_recompile
from conformance.tracing import trace_listener


class CaptureUnavailable(RuntimeError):
    """The running torch release does not show what was asked for."""


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
    #: One line per sequence number of a backward function, where the program is profiled.
    profile: list[str] = field(default_factory=list)
    #: The marks of a marked backward.
    marks: list[str] = field(default_factory=list)
    #: What the simple export made of Dynamo's graphs, where the stack is behind it.
    exported: list[Graph] = field(default_factory=list)
    compile_seconds: float = 0.0

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
            stack.enter_context(_post_grad_listener(recorder))
        yield recorder


class RecordingBackend:
    """A backend for `torch.compile` that records the graph it is handed and lets another backend compile it."""

    def __init__(self, backend: str | Callable[..., Any], recorder: Recorder) -> None:
        self.recorder = recorder
        self.compiler_name = self.__name__ = backend if isinstance(backend, str) else _callable_name(backend)
        self.is_inductor = backend == "inductor"
        self.backend = _looked_up(backend)

    def __call__(self, module: fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        self.recorder.dynamo.append(Graph.of(module))
        if self.is_inductor and options:
            options = _inductor_options(options)
        return self.backend(module, inputs, **options)

    def __getattr__(self, name: str) -> Any:
        # What torch.compile reads off a backend (get_compiler_config, reset) is the wrapped backend's.
        if name == "backend":
            raise AttributeError(name)
        return getattr(self.backend, name)


def recording_backend(backend: str | Callable[..., Any], recorder: Recorder) -> RecordingBackend:
    """`backend`, by name or callable, recording into `recorder`; give the result to `torch.compile(backend=...)`."""
    return RecordingBackend(backend, recorder)


def canonical_reason(text: str) -> str:
    """One text for a guard failure as any release words it: `x is y`, `size of x at 0: expected 3, actual 4`."""
    return canonical_recompile([text])


def _looked_up(backend: str | Callable[..., Any]) -> Callable[..., Any]:
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


@contextmanager
def _post_grad_listener(recorder: Recorder) -> Iterator[None]:
    """Record the graph that inductor's post-grad passes leave, for every stack that compiles through inductor.

    The passes are wrapped rather than a custom pass registered: a custom pass is part of the configuration, and changes
    what is cached and which passes run.
    """
    from torch._inductor import compile_fx

    passes = getattr(compile_fx, "_recursive_post_grad_passes", None)
    if passes is None:
        raise CaptureUnavailable(
            f"torch {torch.__version__} has no _recursive_post_grad_passes to see lowered graphs at"
        )
    depth = 0

    def recording_passes(module: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1  # it calls itself for nested graphs, which the outer graph shows
        try:
            result = passes(module, *args, **kwargs)
        finally:
            depth -= 1
        if depth == 0:
            recorder.lowered.append(Graph.of(module))
        return result

    with mock.patch.object(compile_fx, "_recursive_post_grad_passes", recording_passes):
        yield


@contextmanager
def graph_caches_off() -> Iterator[None]:
    """No graph comes from, or goes to, the caches of whole graphs; compiled kernels stay cached."""
    import torch._functorch.config
    import torch._inductor.config

    with ExitStack() as stack:
        for config, names in (
            (torch._inductor.config, ("fx_graph_cache", "fx_graph_remote_cache")),
            (torch._functorch.config, ("enable_autograd_cache", "enable_remote_autograd_cache")),
        ):
            stack.enter_context(config.patch({name: False for name in names if hasattr(config, name)}))
        yield


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
    `backward(arguments, outputs)` runs after each call, so that backward graphs, compiled lazily, are seen. What the
    program raises ends the tracing and is told in the graphs' note: the oracle compares exceptions elsewhere.
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
