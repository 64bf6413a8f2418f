"""Findings: the results of a run that are not as expected, by root cause, the most frequent first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.results.result_file import CaseResult
from conformance.results.signature import signature_of

#: Outcomes that somebody has to look at, and whose fault each is.
ORIGINS = {"fail": "the stack", "unexpected_pass": "the ledger", "missing": "the suite", "error": "the suite"}


@dataclass
class Finding:
    """One root cause in one run, on one stack, with the results that it explains."""

    signature: str
    sentence: str
    stack: str
    origin: str
    results: list[CaseResult] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Short, and the same in every run in which the cause shows."""
        return hashlib.sha256(f"{self.stack}: {self.signature}".encode()).hexdigest()[:8]

    @property
    def shortest(self) -> CaseResult:
        """The result to look at first: the smallest program, by the graph that Dynamo made of it."""
        return min(self.results, key=lambda one: (len(one.graphs.get("dynamo", "")) or 10**6, one.case))

    @property
    def rung(self) -> str:
        """The first rung on which the shortest program differs from eager."""
        return self.shortest.first_divergence or ""

    def to_json(self) -> dict[str, Any]:
        """The finding as it stands in the result file."""
        return {
            "id": self.id,
            "signature": self.signature,
            "sentence": self.sentence,
            "stack": self.stack,
            "origin": self.origin,
            "bug": None,
            "rung": self.rung,
            "results": [list(one.key) for one in self.results],
            "script": self.shortest.script,
        }


def findings(results: Iterable[CaseResult]) -> list[Finding]:
    """The findings of a run, those that explain most first; what is as expected is none."""
    found: dict[tuple[str, str], Finding] = {}
    for one in results:
        if one.outcome not in ORIGINS:
            continue
        signature, sentence = _signature(one)
        key = (one.stack, signature)
        found.setdefault(key, Finding(signature, sentence, one.stack, ORIGINS[one.outcome])).results.append(one)
    return sorted(found.values(), key=lambda finding: (-len(finding.results), finding.stack, finding.signature))


def share_explained(found: Sequence[Finding], number: int) -> float:
    """The share of all results not as expected that the first ``number`` findings explain."""
    total = sum(len(one.results) for one in found)
    return sum(len(one.results) for one in found[:number]) / total if total else 1.0


def _signature(result: CaseResult) -> tuple[str, str]:
    if result.outcome == "unexpected_pass":
        return "passes, but is listed", "Passes, but a ledger lists it as a known failure: remove the entry."
    if result.outcome == "missing":
        return "no result", "The manifest lists the case, and no result came."
    phase, _, message = result.reason.removeprefix("in ").partition(": ")
    if result.outcome == "error":
        return f"error: {result.reason[:80]}", f"A fault of the case or the suite: {result.reason}"
    return signature_of(phase, result.discrepancies, message)
