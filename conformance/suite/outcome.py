"""From how a case failed, and what the ledger says, to its outcome. Knows nothing of pytest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.canonical.exceptions import first_line
from conformance.canonical.expect import ExpectationMismatch
from conformance.contract.failure import CaseFailure, Discrepancy
from conformance.contract.registry import clauses
from conformance.results import ledger
from conformance.results.result_file import CaseResult
from conformance.suite.plan import Target, area_of

#: What stands for the exception, in ledgers too, where the stack ended the process or its time.
CRASH, TIMEOUT = "Crash", "Timeout"


@dataclass(frozen=True)
class Failure:
    """How a case failed, in the terms of a ledger."""

    phase: str
    observables: frozenset[str] = frozenset()
    exception: str | None = None
    message: str = ""
    discrepancies: tuple[Discrepancy, ...] = ()
    #: A fault of the suite or the case, which no ledger can excuse.
    of_the_suite: bool = False

    @staticmethod
    def of(error: BaseException) -> Failure:
        message = first_line(error) or type(error).__name__
        if isinstance(error, CaseFailure):
            names = frozenset(found.name for found in error.discrepancies)
            if isinstance(error, ExpectationMismatch):
                names = frozenset({"expectation"})
            elif not names and error.exception is None:
                names = frozenset({"assertion"})
            return Failure(error.phase, names, error.exception, message, error.discrepancies)
        if isinstance(error, AssertionError):
            return Failure("call", frozenset({"assertion"}), None, message)
        return Failure("call", exception=type(error).__name__, message=message, of_the_suite=True)

    def describe(self) -> str:
        """The failure in the words of a ledger's entry."""
        return f"{self.phase}: {self.exception or ', '.join(sorted(self.observables))}"

    def to_json(self) -> dict[str, Any]:
        """What a draft of a ledger needs, on its way from a worker."""
        return {"phase": self.phase, "observables": sorted(self.observables), "exception": self.exception}


def verdict(failure: Failure | None, entry: ledger.Entry | None) -> tuple[str, str]:
    """The outcome of a case that ran, and the reason."""
    if failure is None:
        if entry is None:
            return "pass", ""
        return "unexpected_pass", f"passes, but is listed as a known failure ({entry.describe()}): remove this entry"
    if failure.of_the_suite:
        return "error", f"a fault of the case or the suite: {failure.exception}: {failure.message}"
    if entry is None:
        return "fail", f"in {failure.phase}" if failure.discrepancies else f"in {failure.phase}: {failure.message}"
    if entry.explains(failure.phase, failure.observables, failure.exception):
        return "known_failure", f"{entry.reason} ({entry.link})"
    return "fail", f"fails otherwise than the ledger says: {entry.describe()} is listed, {failure.describe()} is seen"


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
