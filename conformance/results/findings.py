"""Findings: the results of a run that are not as expected, by root cause, the most frequent first."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.contract.ladder import layers
from conformance.results.result_file import CaseResult, Key
from conformance.results.signature import CONSEQUENCES, MOST_MESSAGES, Raised, raised, signature_of

#: Whose fault a result may be, in the order in which they are counted.
ORIGINS = ("the stack", "torch's rungs", "the suite", "the ledger")
#: Outcomes that somebody has to look at.
LOOKED_AT = ("fail", "unexpected_pass", "missing", "error")
#: Results of a finding that may be told together with others like it.
FEW = 3


@dataclass
class Finding:
    """One root cause in one run, on one stack, with the results that it explains."""

    signature: str
    sentence: str
    stack: str
    origin: str
    results: list[CaseResult] = field(default_factory=list)
    #: Those of the results in which only what follows from the cause shows.
    consequences: set[Key] = field(default_factory=set)

    @property
    def id(self) -> str:
        """Short, and the same in every run in which the cause shows."""
        whose = "" if self.origin == ORIGINS[0] else f"{self.origin}: "
        return hashlib.sha256(f"{whose}{self.stack}: {self.signature}".encode()).hexdigest()[:8]

    @property
    def by_length(self) -> list[CaseResult]:
        """The results, those of small programs first, by the graph that Dynamo made of them."""
        return sorted(self.results, key=lambda one: (len(one.graphs.get("dynamo", "")) or 10**6, one.case))

    @property
    def shortest(self) -> CaseResult:
        """The result to look at first: the smallest program, of those whose script shows it where there is one.

        One that shows the cause comes before one that shows what follows from it.
        """

        def order(one: CaseResult) -> tuple[bool, ...]:
            return one.key in self.consequences, not one.script, one.script_shows is False, not one.script_shows

        return min(self.by_length, key=order)

    @property
    def bug(self) -> str | None:
        """The bug of a ledger that explains every result."""
        bugs = {one.bug for one in self.results}
        return bugs.pop() if len(bugs) == 1 else None

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
            "bug": self.bug,
            "rung": self.rung,
            "results": [list(one.key) for one in self.results],
            "script": self.shortest.script,
        }


def findings(results: Iterable[CaseResult]) -> list[Finding]:
    """The findings of a run, those that explain most first; what is as expected is none."""
    found: dict[tuple[str, str, str], Finding] = {}
    for one in results:
        if one.outcome not in LOOKED_AT:
            continue
        signature, origin = _signature(one)[0], origin_of(one)
        key = (one.stack, origin, signature)
        found.setdefault(key, Finding(signature, "", one.stack, origin)).results.append(one)
    for finding in found.values():  # its words are those of the result to look at first, which all of them decide
        finding.sentence = _sentence(finding)
    for (stack, origin, signature), finding in list(found.items()):
        cause = found.get((stack, origin, CONSEQUENCES.get(signature, "")))
        if cause is not None:
            count = f"{len(finding.results)} result{'s' if len(finding.results) > 1 else ''}"
            cause.sentence += f" In {count} only this shows of it: {finding.sentence}"
            cause.results += found.pop((stack, origin, signature)).results
            cause.consequences |= {one.key for one in finding.results}
    return sorted(
        _folded(list(found.values())), key=lambda finding: (-len(finding.results), finding.stack, finding.signature)
    )


def origin_of(result: CaseResult) -> str:
    """Whose fault a result is: torch's rungs answer for what an earlier rung than the stack shows."""
    if result.outcome in ("missing", "error"):
        return "the suite"
    if result.outcome == "unexpected_pass":
        return "the ledger"
    earlier = set(layers(True)) - {result.stack}
    inherited = result.outcome == "inherited" or result.first_divergence in earlier
    return "torch's rungs" if inherited else "the stack"


def by_origin(results: Iterable[CaseResult]) -> dict[str, int]:
    """How many results are not as expected, or inherited, by whose fault it is; what nobody answers for is left out."""
    counts = Counter(origin_of(one) for one in results if one.outcome in (*LOOKED_AT, "inherited"))
    return {origin: counts[origin] for origin in ORIGINS if counts[origin]}


def share_explained(found: Sequence[Finding], number: int) -> float:
    """The share of all results not as expected that the first ``number`` findings explain."""
    total = sum(len(one.results) for one in found)
    return sum(len(one.results) for one in found[:number]) / total if total else 1.0


def _folded(found: list[Finding]) -> list[Finding]:
    """The findings, those at which a stack's code raises for a few programs as one where they are many."""
    small: dict[str, list[Finding]] = {}
    for one in found:
        if one.origin == ORIGINS[0] and len(one.results) <= FEW and _refusals(one):
            small.setdefault(one.stack, []).append(one)
    for stack, many in small.items():
        if len(many) > FEW:
            places = "; ".join(one.sentence.rstrip(".") for one in many[:MOST_MESSAGES])
            rest = len(many) - MOST_MESSAGES
            sentence = f"Raises at {len(many)} places of its code for a few programs each: {places}" + (
                f"; {rest} places more." if rest > 0 else "."
            )
            results = [result for one in many for result in one.results]
            found = [one for one in found if one not in many]
            found.append(Finding("raises at other places of its code", sentence, stack, ORIGINS[0], results))
    return found


def _refusals(finding: Finding) -> list[Raised]:
    """What the stack's own code raised for each of the results; nothing where that is not all that they show."""
    seen = [one for one in (raised(result.discrepancies) for result in finding.results) if one is not None]
    return seen if len(seen) == len(finding.results) and seen[0].refused else []


def _sentence(finding: Finding) -> str:
    """The finding in words, of the result that is looked at first; of an exception all that it said at its place."""
    seen = _refusals(finding) if finding.origin == ORIGINS[0] else []
    return seen[0].sentence([one.message for one in seen]) if seen else _signature(finding.shortest)[1]


def _signature(result: CaseResult) -> tuple[str, str]:
    if result.outcome == "unexpected_pass":
        by = f" by the bug {result.bug}" if result.bug else ""
        remedy = "remove this entry, as --update-known-failures does"
        sentence = f"Passes, but a ledger lists it as a known failure{by}: {remedy}."
        return f"passes, but is listed{by}", sentence
    if result.outcome == "missing":
        return "no result", "The manifest lists the case, and no result came."
    phase, _, message = result.reason.removeprefix("in ").partition(": ")
    if result.outcome == "error":
        return f"error: {result.reason[:80]}", f"A fault of the case or the suite: {result.reason}"
    return signature_of(phase, result.discrepancies, message)
