"""Whose fault a discrepancy is: what a rung of torch's own ladder does as well, to the same value, is torch's."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from conformance.contract.failure import Discrepancy
from conformance.contract.ladder import layers
from conformance.oracle.compare import compare
from conformance.run.run import Run
from conformance.run.texts import error_text
from conformance.stacks import resolve

COUNTS = ("graphs", "recompiles", "graph_breaks")


def rungs_below(run: Run) -> tuple[str, ...]:
    """The rungs that the stack went through in this run, lowest first; those it did not touch do not count.

    A backend that Dynamo calls stands on Dynamo, and where AOTAutograd compiled inside it, on that too.
    """
    if not run.stack.compiles:
        return ()
    if run.stack.exact or not run.stack.ladder:
        return run.stack.ladder
    return layers(run.recorder.through_aot_autograd)


def inherited(run: Run, found: Iterable[Discrepancy]) -> dict[Discrepancy, str]:
    """The first rung, lowest first, that shows each of these discrepancies as the stack does; the rest are its own.

    Torch's own stacks inherit nothing in this way: what is new on them is torch's and has to be seen, and what is known
    stands in a ledger.
    """
    left, shown = list(found), dict[Discrepancy, str]()
    for name in rungs_below(run) if not run.stack.exact else ():
        if not left:
            break
        rung = _Rung(run, name)
        shown |= {one: name for one in left if rung.shows(one)}
        left = [one for one in left if one not in shown]
    return shown


def first_divergence(run: Run, found: Iterable[Discrepancy]) -> str | None:
    """The first rung of the ladder, up to the stack itself, that differs from eager where the stack does.

    Of what is no place of the program, as a text, it is the first rung on which the program differs at all.
    """
    places = {_place(one) for one in found} & {_place(one) for one in run.comparison.discrepancies}
    if not places:
        return run.first_divergence()
    return next((name for name in run.stack.ladder if _Rung(run, name).differs_at(places)), run.stack.name)


class _Rung:
    """The program of a run on one rung."""

    def __init__(self, run: Run, name: str) -> None:
        self.run = run
        self.observation, self.recorder = run.on(resolve(name))

    def shows(self, found: Discrepancy) -> bool:
        """Whether the rung has this discrepancy at the same place, and there does exactly what the stack does."""
        if found.observable == "expectation":
            return found.where == "error" and found.actual == error_text(self.observation)
        if found.observable in COUNTS and not found.where:
            return found.actual == str(self._counts[found.observable])
        if found.observable == "exception" and error_text(self.observation) != error_text(self.run.compiled):
            return False
        name = _place(found)
        return name in self._unlike_eager and name not in self._unlike_stack

    def differs_at(self, places: Collection[str]) -> bool:
        """Whether the rung differs from eager at one of these places, by whatever value."""
        return not self._unlike_eager.isdisjoint(places)

    @cached_property
    def _counts(self) -> dict[str, int]:
        recorder = self.recorder
        return dict(zip(COUNTS, (recorder.compiles, len(recorder.recompiles), len(recorder.graph_breaks)), strict=True))

    @cached_property
    def _unlike_eager(self) -> set[str]:
        return {_place(one) for one in self.run.compared(self.observation).discrepancies}

    @cached_property
    def _unlike_stack(self) -> set[str]:
        # No reference: two that are equally wrong are as far from it as each other.
        against = compare(self.observation, self.run.compiled, tolerance=self.run.stack.tolerance)
        return {_place(one) for one in against.discrepancies}


def _place(found: Discrepancy) -> str:
    """Where it is; of strides it does not matter here whether more than size-1 dimensions differ."""
    return found.name.replace("size_1_stride", "stride")
