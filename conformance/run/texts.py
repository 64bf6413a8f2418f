"""The texts of a run that a case may expect: graphs by stage, recompiles, guards, graph breaks, errors."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from conformance.canonical import wrapped
from conformance.canonical.expect import Expectable
from conformance.canonical.frames import without_machine_paths
from conformance.canonical.graphs import Graphs
from conformance.capture.guard_counts import Guards
from conformance.capture.recorder import Recorder
from conformance.contract.failure import CaseFailure
from conformance.oracle.observation import Observation
from conformance.stacks import Stack


class ConformanceFailure(CaseFailure):
    """A run that is not as promised."""


class NotApplicableExpectation:
    """Stands for what is not this stack's (the Dynamo graph of `eager`): expectations on it say nothing."""

    def expect(
        self, literal: str, *, since: str | None = None, until: str | None = None, device: str | None = None
    ) -> None:
        """Nothing is said about a text that this stack does not make."""

    @property
    def operators(self) -> NotApplicableExpectation:
        return self

    origins = operators

    def __getitem__(self, index: int | slice) -> NotApplicableExpectation:
        return self

    def count(self, op: str) -> int:
        raise ConformanceFailure("this stack shows no such graph: the case needs a capability", phase="expectation")

    absent = count

    def total(self, compilation: int) -> int:
        """No guards that anything is said about."""
        return 0


class Shown:
    """The texts of a run, made when they are asked for.

    Graphs, guards and their failures as Dynamo words them are torch's: they are texts of torch's own stacks only.
    """

    stack: Stack
    device: str
    recorder: Recorder
    eager: Observation
    compiled: Observation

    @cached_property
    def dynamo(self) -> Any:
        """The graphs handed to the stack's backend in this run, in order."""
        shown = self.stack.compiles_as_torch
        return Graphs("dynamo", self.recorder.dynamo) if shown else NotApplicableExpectation()

    @cached_property
    def lowered(self) -> Any:
        """The stack's own last graphs; the case names the capability `lowered_graph`."""
        shown = "lowered_graph" in self.stack.capabilities
        return Graphs("lowered", self.recorder.lowered, device=self.device) if shown else NotApplicableExpectation()

    @cached_property
    def recompiles(self) -> Any:
        """One canonical guard failure a line, in the order of the recompiles."""
        text = "\n".join(self.recorder.recompiles) or "(no recompile)"
        return Expectable("recompiles", text) if self.stack.compiles_as_torch else NotApplicableExpectation()

    @cached_property
    def guards(self) -> Any:
        """How many guards each compilation has, by what they check."""
        return Guards(self.recorder.guards) if self.stack.compiles_as_torch else NotApplicableExpectation()

    @cached_property
    def graph_breaks(self) -> Any:
        """One canonical reason a line, in the order of the graph breaks."""
        text = "\n".join(self.recorder.graph_breaks) or "(no graph break)"
        return Expectable("graph breaks", text) if self.stack.compiles_as_torch else NotApplicableExpectation()

    @cached_property
    def error(self) -> Expectable:
        """The exception the stack raised: its type and the first line of its innermost message."""
        return Expectable("error", error_text(self.compiled))

    @cached_property
    def eager_error(self) -> Expectable:
        """The exception eager raised, in the same form as `error`."""
        return Expectable("eager error", error_text(self.eager))


def error_text(observation: Observation) -> str:
    """What was raised: its type and the first line of its innermost message, in canonical words."""
    return without_machine_paths(wrapped.error_text(observation.raised.error if observation.raised else None))
