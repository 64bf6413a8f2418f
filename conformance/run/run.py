"""One program on one stack: both observations, what compilation did, and what a case may assert about them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch

from conformance.canonical.graphs import Graphs
from conformance.capture.recorder import Recorder
from conformance.contract.failure import Discrepancy, NothingToTry
from conformance.contract.run_environment import threads
from conformance.oracle.compare import Comparison, compare
from conformance.oracle.observation import Observation
from conformance.oracle.reference import reference
from conformance.oracle.side import observe, run_backward
from conformance.program.probe import Probe
from conformance.program.programs import Calls, Program
from conformance.run.aot_graphs import front_end, wrapped
from conformance.run.needed import needed
from conformance.run.texts import ConformanceFailure, NotApplicableExpectation, Shown
from conformance.stacks import Stack, resolve


class Run(Shown):
    """A call sequence run eagerly and on a stack; made by `BoundStack.run`."""

    def __init__(
        self,
        stack: Stack,
        program: Program,
        calls: Calls,
        device: str,
        *,
        traces: bool = True,
    ) -> None:
        self.stack, self.program, self.calls, self.device = stack, program, calls, device
        #: Whether the texts that the suite traces itself are compared in this run.
        self.traces = traces
        self.recorder = Recorder()
        #: Where two things are right (`or_limit`), which one the stack did.
        self.saw = ""
        self._limit_named = False
        self._shown: dict[Probe, Any] = {}
        torch.set_num_threads(program.threads or threads())
        self.eager: Observation = observe(program, calls, device)
        self.compiled: Observation = self._compiled(stack, self.recorder)

    def _compiled(self, stack: Stack, recorder: Recorder) -> Observation:
        program, probes = self.program, self.program.probes
        seen = {probe: recorder.seen_by(probe) for probe in probes}

        def compile(built: Callable[..., Any]) -> Callable[..., Any]:
            if stack.compiles:
                built = wrapped(built, program, self.calls, self.device)
            return stack.compile(built, recorder, dynamic=program.dynamic, fullgraph=program.fullgraph, probes=probes)

        backward: Any = program.backward
        for probe in probes:
            plain = backward if callable(backward) else partial(run_backward, program)
            marked = probe.wrap_backward(plain, seen[probe])
            backward = backward if marked is plain else marked
        with ExitStack() as contexts:
            contexts.enter_context(stack.running(program.config, recorder))
            for probe in probes:
                contexts.enter_context(probe.around_stack_side(seen[probe]))
            side = replace(program, backward=backward)
            return observe(side, self.calls, self.device, compile=compile, ran="compiled")

    def seen_by(self, probe: Probe) -> Any:
        """What a probe of the program saw of the stack's side, as a text that the case may expect."""
        if probe not in self.program.probes:
            raise ValueError(f"{self.program.name} has no probe {probe}")
        if probe.of_compilation and not self.stack.compiles:
            return NotApplicableExpectation()
        return self._shown.setdefault(probe, probe.show(self.recorder.seen_by(probe)))

    @cached_property
    def comparison(self) -> Comparison:
        return self.compared(self.compiled)

    def compared(self, observation: Observation) -> Comparison:
        """How an observation of the same program, on whatever stack, differs from eager's."""
        started = time.perf_counter()
        compared = compare(
            self.eager, observation, lambda: reference(self.program, self.calls, self.device), self.stack.tolerance
        )
        self.eager.timings["compare"] = self.eager.timings.get("compare", 0.0) + time.perf_counter() - started
        return compared

    def assert_matches_eager(self, allowing: Mapping[str, str] | None = None, *, or_limit: bool = False) -> None:
        """Every observable is as in eager; ``allowing`` maps the few that a clause leaves open to the reason.

        A place that is named (``globals['module']``) stands for everything below it. With ``or_limit`` the stack may
        raise where eager does not, as `limit` expects it to; ``saw`` tells which of the two it did.
        A stack is not charged with a program that needs a capability which it does not declare (`NothingToTry`).
        """
        allowed = dict(allowing or {})
        for name, reason in allowed.items():
            if not reason.strip():
                raise ValueError(f"allowing {name!r} needs a reason")
        left = [found for found in self.comparison.discrepancies if not _covered(found.name, allowed)]
        if or_limit:
            if not self._limit_named:
                raise ValueError("or_limit needs run.limit.expect(...) before it: the message is part of the limit")
            reached = self._raises_alone and [found.name for found in left] == ["exception"]
            left = [] if reached else left
            self.saw = f"a documented limit: {self.error}" if reached else "what eager does, past a documented limit"
        if left:
            self.check_capable()
            lines = "\n".join(f"  {found}" for found in left)
            raise ConformanceFailure(
                f"{self.program.name} on {self.stack.name}, {self.device}: differs from eager\n{lines}",
                phase=self.comparison.phase,
                discrepancies=left,
                exception=self.comparison.exception,
                run=self,
            )

    def check_capable(self) -> None:
        """Raises `NothingToTry` where eager does what the stack is not said to be capable of."""
        for capability, why in needed(self.eager).items():
            if capability not in self.stack.capabilities:
                raise NothingToTry(f"{self.stack.name} does not declare {capability}, and in eager {why}")

    def assert_compiled(self, graphs: int | None = 1, recompiles: int | None = 0, graph_breaks: int | None = 0) -> None:
        """The stack's backend was handed this many graphs; nothing to assert where nothing is compiled.

        That is exact for torch's own stacks behind Dynamo. Others may be handed fewer, but not none where there are
        some, unless the program raises: that another graph is needed where inputs overlap for one, is a mechanism and
        no promise.
        ``graph_breaks=None`` is for programs that raise: a call may then end in a graph break as well as in an error.
        Of a program that nobody wrote, nothing is known but that there is something to compile: ``graphs=None`` is any
        number but none.
        """
        if not self.stack.compiles:
            return
        seen = {
            "graphs": (graphs, self.recorder.compiles),
            "recompiles": (recompiles, len(self.recorder.recompiles)),
            "graph_breaks": (graph_breaks, len(self.recorder.graph_breaks)),
        }
        nothing = not self.recorder.compiles and self.compiled.raised is None
        exact = self.stack.compiles_as_torch or nothing
        wrong = [
            Discrepancy(name, "", str(wanted) if exact or not wanted else f"at most {wanted}", str(actual))
            for name, (wanted, actual) in seen.items()
            if wanted is not None and (actual > wanted or (exact and actual < wanted))
        ]
        if graphs is None and not self.recorder.compiles:
            wrong.append(Discrepancy("graphs", "", "at least one", "0"))
        if wrong:
            lines = "\n".join(f"  {found.name}: expected {found.expected}, got {found.actual}" for found in wrong)
            reasons = [*self.recorder.recompiles, *self.recorder.graph_breaks]
            told = "".join(f"\n  because {reason}" for reason in reasons)
            raise ConformanceFailure(
                f"{self.program.name} on {self.stack.name}, {self.device}: compiled otherwise than promised\n"
                f"{lines}{told}",
                phase="compile_behaviour",
                discrepancies=wrong,
                run=self,
            )

    @property
    def _raises_alone(self) -> bool:
        return self.eager.raised is None and self.compiled.raised is not None

    @property
    def limit(self) -> Any:
        """What the stack raised where eager raises nothing; nothing is expected of a stack that does what eager does.

        For limits that torch documents: they are no promise, so either is right, and a third thing is not.
        """
        self._limit_named = True
        return self.error if self._raises_alone else NotApplicableExpectation()

    @property
    def joint(self) -> Any:
        """AOTAutograd's joint graphs, before any backend's decompositions."""
        return self._traced("joint")

    @property
    def forward(self) -> Any:
        """AOTAutograd's forward graphs, the same for every stack and device."""
        return self._traced("forward")

    @property
    def backward(self) -> Any:
        """AOTAutograd's backward graphs, the same for every stack and device."""
        return self._traced("backward")

    def _traced(self, stage: str) -> Any:
        return self._front_end[stage] if self.traces else NotApplicableExpectation()

    @cached_property
    def _front_end(self) -> dict[str, Graphs]:
        started = time.perf_counter()
        graphs = front_end(self.program, self.calls, self.device, self.stack.while_tracing())
        self.eager.timings["graphs"] = time.perf_counter() - started
        return graphs

    def first_divergence(self) -> str | None:
        """The first rung of the ladder, up to the stack itself, that differs from eager."""
        for name in self.stack.ladder:
            if self._differs(resolve(name)):
                return name
        return self.stack.name if self.comparison.discrepancies else None

    def _differs(self, rung: Stack) -> bool:
        return bool(self.compared(self.on(rung)[0]).discrepancies)

    def on(self, stack: Stack) -> tuple[Observation, Recorder]:
        """What the caller sees of the same program on another stack, and what compilation did there."""
        recorder = Recorder()
        return self._compiled(stack, recorder), recorder

    @property
    def timings(self) -> dict[str, float]:
        """Seconds by kind of work: build, eager, compiled (compile time within), observe, compare, graphs."""
        total: dict[str, float] = {}
        for timings in (self.eager.timings, self.compiled.timings):
            for key, seconds in timings.items():
                total[key] = total.get(key, 0.0) + seconds
        return total

    @property
    def compile_seconds(self) -> float:
        return self.recorder.compile_seconds

    def record(self) -> dict[str, Any]:
        """What the result file keeps of a run."""
        stages = {"dynamo": self.recorder.dynamo, "lowered": self.recorder.lowered}
        graphs = {stage: "\n\n".join(graph.text for graph in seen) for stage, seen in stages.items() if seen}
        if "_front_end" in self.__dict__:
            graphs |= {stage: seen.text for stage, seen in self._front_end.items() if len(seen)}
        return {
            "compile_seconds": self.recorder.compile_seconds,
            "graphs": graphs,
            "recompiles": list(self.recorder.recompiles),
            "graph_breaks": list(self.recorder.graph_breaks),
        }


def _covered(name: str, allowed: Iterable[str]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in allowed)
