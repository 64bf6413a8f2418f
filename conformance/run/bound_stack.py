"""A stack on a device, as a case is given it: run a program, trace one, minify a failing one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.canonical.expect import Expectable
from conformance.minify import MinifierRun, minify
from conformance.probes.tracers import traced
from conformance.program.programs import Calls, Program
from conformance.run.run import Run
from conformance.stacks import Stack


class BoundStack:
    """A stack on a device: what the `stack` fixture gives a case."""

    def __init__(
        self, stack: Stack, device: str, area: str = "", known_signatures: frozenset[str] = frozenset()
    ) -> None:
        self.stack = stack.in_area(area)
        self.device = device
        self.known_signatures = known_signatures
        self.runs: list[Run] = []

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
        `Program`: after, inference, backward, dynamic, fullgraph, config.
        """
        run = Run(self.stack, Program.of(program, **options), calls, self.device)
        self.runs.append(run)
        return run

    def trace(self, program: Callable[..., Any], calls: Calls, by: str) -> Expectable:
        """What tracing makes of a program, without a comparison with eager; see `conformance.probes.tracers`."""
        return traced(self.stack, program, calls, self.device, by)

    def minify(self, program: Callable[..., Any], calls: Calls, **options: Any) -> MinifierRun:
        """Minify a failing program, end to end; options are those of `conformance.minify.minify`."""
        options.setdefault("device", self.device)
        return minify(self.stack.minifiable(), program, calls, **options)
