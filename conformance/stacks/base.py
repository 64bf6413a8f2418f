"""What a stack is: data plus how to compile a program and where its graphs are seen."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch._dynamo

from conformance.capture.backend import RecordingBackend
from conformance.capture.lowered_graphs import graph_caches_off
from conformance.capture.recorder import Recorder, recording
from conformance.capture.structured_trace import check_capture
from conformance.contract.ladder import rungs
from conformance.oracle.compare_values import Tolerance
from conformance.program.probe import Backend, Probe
from conformance.stacks.config import BASE_CONFIG, patched, where_known
from conformance.stacks.skipped_logging import logs_left_out

#: What a backend is assumed to do unless a TOML description says otherwise.
ASSUMED = frozenset(
    {"compile", "training", "input_mutation", "module_state", "python_objects", "dynamic_shapes"}
    | {"recompiles", "graph_breaks"}
)


@dataclass(frozen=True)
class Minifiable:
    """A stack as text and data, for a process of its own; ``patches`` names functions to call there first."""

    backend: str
    config: Mapping[str, Any]
    imports: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    patches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stack:
    """A named, complete configuration: capture, backend, config patches.

    ``backend`` is what goes to ``torch.compile(backend=...)``, None where nothing is compiled. ``config`` maps
    "dynamo.x", "inductor.x" and "functorch.x" to values; ``area_config`` adds to it in one area. ``spec`` says the
    backend as text ("module:callable") where ``backend`` is not a name, so that a child process finds it.
    """

    name: str
    backend: str | Callable[..., Any] | None
    capabilities: frozenset[str] = frozenset()
    config: Mapping[str, Any] = field(default_factory=dict)
    area_config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    tolerance: Tolerance = field(default_factory=Tolerance)
    spec: str = ""
    #: Whether what the stack is handed is a graph of Dynamo's, whose text is the same for every such stack.
    captured_by_dynamo: bool = True
    #: Whether it is one of torch's own behind AOTAutograd. The faults of another may be torch's.
    exact: bool = False
    #: The stack that this one is another configuration of: its ledger holds here too, after this stack's own.
    shares_failures_of: str = ""

    #: Whether somebody says what the stack can do; else it is found out.
    described: bool = True
    #: What the stack was found not to be capable of, and what was seen instead.
    denied: Mapping[str, str] = field(default_factory=dict)
    #: What could not be found out, which its cases are to show, and why.
    unclear: Mapping[str, str] = field(default_factory=dict)
    #: The command that installs what the stack needs besides this suite and torch.
    install: str = ""

    @property
    def ledgers(self) -> tuple[str, ...]:
        """The stacks whose ledgers hold for this one, the first that knows a case being right."""
        return tuple(filter(None, (self.name, self.shares_failures_of)))

    @property
    def compiles(self) -> bool:
        return self.backend is not None

    @property
    def always_traced(self) -> bool:
        """Whether texts that the suite traces are compared on it, whoever else runs: on mutants, which spoil them."""
        return False

    @property
    def compiles_as_torch(self) -> bool:
        """Whether how often it compiles, why, and with which guards, is exactly as the cases say."""
        return self.exact and self.captured_by_dynamo

    @property
    def ladder(self) -> tuple[str, ...]:
        """The rungs below this stack, which a program that fails on it is run on; none without Dynamo."""
        return tuple(rungs(self.name)[:-1]) if self.captured_by_dynamo else ()

    def minifiable(self) -> Minifiable:
        """What a process that runs the minifier has to know of this stack."""
        backend = self.backend if isinstance(self.backend, str) else self.spec
        return Minifiable(backend, self.config, self.imports, self.options)

    def in_area(self, area: str) -> Stack:
        """This stack as it runs in one area (inductor freezes in the freezing area)."""
        added = self.area_config.get(area, {})
        return replace(self, config={**self.config, **added}) if added else self

    def compile(
        self,
        program: Callable[..., Any],
        recorder: Recorder,
        *,
        dynamic: bool | None = None,
        fullgraph: bool = False,
        probes: Sequence[Probe] = (),
    ) -> Callable[..., Any]:
        """What is called instead of ``program``; records into ``recorder`` while it compiles."""
        if self.backend is None:
            return program

        def wrap(compiler: Backend) -> Backend:
            for probe in probes:
                compiler = probe.wrap_compiler(compiler, recorder.seen_by(probe))
            return compiler

        backend: Backend = RecordingBackend(self.backend, recorder, wrap)
        for probe in probes:
            backend = probe.wrap_backend(backend)
        options = dict(self.options) or None
        compiled: Callable[..., Any] = torch.compile(
            program, backend=backend, dynamic=dynamic, fullgraph=fullgraph, options=options
        )
        return compiled

    @contextmanager
    def running(self, config: Mapping[str, Any], recorder: Recorder) -> Iterator[None]:
        """One run of one program: imports, a clean Dynamo, config patches, recording; all undone at the end."""
        for name in self.imports:
            importlib.import_module(name)
        if not self.compiles:
            yield
            return
        check_capture()
        torch._dynamo.reset()
        with ExitStack() as stack:
            stack.enter_context(graph_caches_off())
            stack.enter_context(logs_left_out())
            stack.enter_context(patched({**where_known(), **BASE_CONFIG, **self.config, **config}))
            stack.enter_context(recording(recorder, lowered="lowered_graph" in self.capabilities))
            yield

    def while_tracing(self) -> AbstractContextManager[Any] | None:
        """What is in force while programs are traced in front of this stack: nothing, but for mutants."""
        return None

    def prepare(self, devices: Collection[str]) -> Mapping[str, str]:
        """Work for these devices that all workers share, done before they start; returns more of their environment."""
        return {}
