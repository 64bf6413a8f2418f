"""A stack on a device, as a case is given it: run a program, trace one, minify a failing one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.minify import MinifierRun, minify
from conformance.probes.tracers import traced
from conformance.program.programs import Calls, Program
from conformance.run.run import Run
from conformance.run.texts import NotApplicableExpectation
from conformance.stacks import Stack


class BoundStack:
    """A stack on a device: what the `stack` fixture gives a case."""

    def __init__(
        self,
        stack: Stack,
        device: str,
        area: str = "",
        known_signatures: frozenset[str] = frozenset(),
        *,
        traces: bool = True,
    ) -> None:
        self.stack = stack.in_area(area)
        self.device = device
        #: Whether the texts that the suite traces itself are compared on this stack.
        self.traces = traces
        self.known_signatures = known_signatures
        self.runs: list[Run] = []
        self._left_out = False

    @property
    def says_nothing(self) -> bool:
        """Whether all that was asked of the stack are texts that others answer for."""
        return self._left_out and not self.runs

    @property
    def name(self) -> str:
        return self.stack.name

    @property
    def capabilities(self) -> frozenset[str]:
        return self.stack.capabilities

    def run(self, program: Any, calls: Calls, **options: Any) -> Run:
        """Run a call sequence on both sides.

        ``program`` is a module-level function, an ``nn.Module`` class or a `Program`; ``calls`` comes from
        `tensors` or is a function of the device that returns a list of argument tuples. Options are those of
        `Program`: after, inference, backward, dynamic, fullgraph, config, threads.
        """
        run = Run(self.stack, Program.of(program, **options), calls, self.device, traces=self.traces)
        self.runs.append(run)
        return run

    def run_beside(self, program: Callable[..., Any] | Program, calls: Calls) -> Run:
        """Run a program that the result of the case does not hold: one of many that the case tries."""
        return Run(self.stack, Program.of(program), calls, self.device)

    def narrow(self, run: Run) -> None:
        """Let the result of the case hold this run alone, in which what went wrong shows best."""
        self.runs[:] = [run]

    def trace(self, program: Callable[..., Any], calls: Calls, by: str) -> Any:
        """What tracing makes of a program, without a comparison with eager; see `conformance.probes.tracers`.

        What is traced apart from the stack is torch's, and so is what Dynamo hands to another's backend.
        """
        if not (self.stack.exact if by == "stack" else self.traces):
            self._left_out = True
            return NotApplicableExpectation()
        return traced(self.stack, program, calls, self.device, by)

    def minify(self, program: Callable[..., Any], calls: Calls, **options: Any) -> MinifierRun:
        """Minify a failing program, end to end; options are those of `conformance.minify.minify`."""
        options.setdefault("device", self.device)
        return minify(self.stack.minifiable(), program, calls, **options)
