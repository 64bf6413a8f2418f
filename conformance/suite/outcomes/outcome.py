"""From how a case failed, and what the ledger says, to its outcome. Does not import pytest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.canonical.expect import ExpectationMismatch
from conformance.canonical.frames import without_machine_paths
from conformance.canonical.wrapped import first_line
from conformance.contract.failure import CaseFailure, Discrepancy
from conformance.contract.registry import clauses
from conformance.results import ledger
from conformance.results.result_file import CaseResult
from conformance.suite.plan import area_of
from conformance.suite.target import Target

#: What stands for the exception, in ledgers too, where the stack ended the process or its time.
CRASH, TIMEOUT = "Crash", "Timeout"

#: The phases in which a program is compared with eager; elsewhere nothing differs that a rung could show.
COMPARED = ("call", "backward", "follow_up")


@dataclass(frozen=True)
class Failure:
    """How a case failed, in the terms of a ledger."""

    phase: str
    observables: frozenset[str] = frozenset()
    exception: str | None = None
    message: str = ""
    discrepancies: tuple[Discrepancy, ...] = ()
    #: The phase in which each discrepancy, by name, shows first.
    phases: Mapping[str, str] = field(default_factory=dict)
    #: A fault of the suite or the case, which no ledger can excuse.
    of_the_suite: bool = False

    @staticmethod
    def of(error: BaseException) -> Failure:
        message = without_machine_paths(first_line(error)) or type(error).__name__
        if isinstance(error, CaseFailure):
            names = frozenset(found.name for found in error.discrepancies)
            if isinstance(error, ExpectationMismatch):
                names = frozenset({"expectation"})
            elif not names and error.exception is None:
                names = frozenset({"assertion"})
            phases = error.run.comparison.phases if error.phase in COMPARED and error.run is not None else {}
            return Failure(error.phase, names, error.exception, message, error.discrepancies, phases)
        if isinstance(error, AssertionError):
            return Failure("call", frozenset({"assertion"}), None, message)
        return Failure("call", exception=type(error).__name__, message=message, of_the_suite=True)

    def only(self, own: tuple[Discrepancy, ...]) -> Failure:
        """This failure with some of its discrepancies alone."""
        if own == self.discrepancies:
            return self
        names = frozenset(one.name for one in own)
        phases = [self.phases[name] for name in names if name in self.phases]
        return replace(
            self,
            phase=min(phases, key=ledger.PHASES.index, default=self.phase),
            observables=names,
            exception=self.exception if "exception" in names else None,
            discrepancies=own,
        )

    def describe(self) -> str:
        """The failure in the words of a ledger's entry."""
        return f"{self.phase}: {self.exception or ', '.join(sorted(self.observables))}"

    def to_json(self) -> dict[str, Any]:
        """What a draft of a ledger needs, on its way from a worker."""
        return {"phase": self.phase, "observables": sorted(self.observables), "exception": self.exception}


@dataclass(frozen=True)
class Blame:
    """A failure taken apart: what is the stack's own, if anything is, and what torch's rungs show, by rung."""

    own: Failure | None
    inherited: Mapping[str, Sequence[Discrepancy]] = field(default_factory=dict)
    #: What the ledgers of those rungs list.
    listed: Mapping[str, ledger.Entry] = field(default_factory=dict)

    def __str__(self) -> str:
        """Rung, what it does as the stack does, and the bug where a ledger lists it."""
        return "; ".join(
            f"{rung} fails likewise{_names(found)}"
            + (f": {self.listed[rung].bug.id}, {self.listed[rung].bug}" if rung in self.listed else "")
            for rung, found in self.inherited.items()
        )


def _names(found: Sequence[Discrepancy]) -> str:
    return f" in {', '.join(one.name for one in found)}" if found else ""


def blame(
    failure: Failure, listed: Mapping[str, ledger.Entry], shown: Mapping[Discrepancy, str] | None = None
) -> Blame:
    """Whose the discrepancies of a failure are, each for itself.

    ``shown`` are those that a rung does likewise when it runs the program, with that rung. Where no rung was run it is
    None, and ``listed`` decides, the entries of the rungs that the stack goes through.
    """
    if shown is None:
        for rung, entry in listed.items():
            if entry.explains(failure.phase, failure.observables, failure.exception):
                return Blame(None, {rung: failure.discrepancies}, listed)
        shown = {one: rung for rung, entry in reversed(list(listed.items())) for one in _explained(entry, failure)}
    own = tuple(one for one in failure.discrepancies if one not in shown)
    by_rung: dict[str, list[Discrepancy]] = {}
    for one, rung in shown.items():
        by_rung.setdefault(rung, []).append(one)
    return Blame(failure.only(own) if own or not shown else None, by_rung, listed)


def _explained(entry: ledger.Entry, failure: Failure) -> tuple[Discrepancy, ...]:
    """The part of a failure that is exactly what an entry lists; nothing where it is not all there."""
    names = entry.observables or {"exception"}
    part = failure.only(tuple(one for one in failure.discrepancies if one.name in names))
    found = part.discrepancies and entry.explains(part.phase, part.observables, part.exception)
    return part.discrepancies if found else ()


def verdict(failure: Failure | None, entry: ledger.Entry | None, blamed: Blame | None = None) -> tuple[str, str]:
    """The outcome of a case that ran, and the reason."""
    if failure is None:
        if entry is None or not entry.strict:
            return "pass", ""
        return "unexpected_pass", f"passes, but is listed as a known failure ({entry.describe()}): remove this entry"
    if failure.of_the_suite:
        return "error", f"a fault of the case or the suite: {failure.exception}: {failure.message}"
    blamed = blamed or Blame(failure)
    if entry is not None and any(
        one is not None and entry.explains(one.phase, one.observables, one.exception) for one in (failure, blamed.own)
    ):
        return "known_failure", str(entry.bug)
    besides = f"; besides, {blamed}" if blamed.inherited else ""
    if blamed.own is None:
        if entry is None or not entry.strict:
            return "inherited", str(blamed)
        return "unexpected_pass", f"nothing of its own, but {entry.describe()} is listed: remove this entry{besides}"
    own = blamed.own
    if entry is None:
        return "fail", (f"in {own.phase}" if own.discrepancies else f"in {own.phase}: {own.message}") + besides
    listed = f"fails otherwise than the ledger says: {entry.describe()} is listed, {own.describe()} is seen"
    return "fail", listed + besides


def bug_of(failure: Failure | None, entry: ledger.Entry | None, blamed: Blame | None = None) -> str | None:
    """The bug of a ledger that explains all that a result shows of the stack's own; a part of what is listed counts."""
    blamed = blamed or Blame(failure)
    if failure is not None and blamed.own is None:
        inherited = {blamed.listed[rung].bug.id for rung in blamed.inherited if rung in blamed.listed}
        return inherited.pop() if len(inherited) == 1 and len(blamed.inherited) == 1 else None
    own = blamed.own
    if entry is None or (own is not None and own.exception != entry.exception):
        return None
    return entry.bug.id if own is None or own.exception or own.observables <= entry.observables else None


def result(
    case: str,
    target: Target,
    outcome: str,
    reason: str = "",
    *,
    clause: str | None = None,
    seconds: float = 0.0,
    failure: Failure | None = None,
    first_divergence: str | None = None,
    bug: str | None = None,
    runs: Sequence[Mapping[str, Any]] = (),
) -> CaseResult:
    """The result of one case on one target; ``runs`` are the records of the programs it ran."""
    graphs: dict[str, str] = {}
    for record in runs:
        for phase, text in record["graphs"].items():
            graphs[phase] = f"{graphs[phase]}\n\n{text}" if phase in graphs else text
    return CaseResult(
        case=case,
        clauses=[clause] if clause else [],
        area=area_of(case),
        stack=target.stack,
        device=target.device,
        outcome=outcome,
        reason=reason,
        seconds=round(seconds, 3),
        compile_seconds=round(sum(record["compile_seconds"] for record in runs), 3),
        discrepancies=list(failure.discrepancies) if failure else [],
        first_divergence=first_divergence,
        graphs=graphs,
        recompiles=[text for record in runs for text in record["recompiles"]],
        graph_breaks=[text for record in runs for text in record["graph_breaks"]],
        bug=bug,
    )


def told(result: CaseResult, message: str, alone: str = "") -> str:
    """A failure as it is printed: subject, what differs, clause, where, next command (`alone` or the result's)."""
    lines = [f"{result.case}   {result.outcome}   {result.stack}, {result.device}"]
    for name in result.clauses:
        lines += [f"  clause   {name}", *([f"           {clauses()[name].sentence}"] if name in clauses() else [])]
    lines += [f"  {line}" for line in message.splitlines()]
    if result.reason and not (message and result.reason.startswith("in ")):  # the message says it, and more
        lines.append(f"  {result.reason}")
    if result.first_divergence:
        lines.append(f"  first divergence: {result.first_divergence}")
    lines.append(f"  alone: {alone or result.rerun}")
    return "\n".join(lines)
