"""Torch's own faults: each bug that ships, with the ledgers that list it and the results that show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from conformance.contract.ladder import LAYERS
from conformance.results.bugs import KINDS, Bug
from conformance.results.ledger import PHASES, Entry, Ledger, Signature
from conformance.results.result_file import CaseResult

#: The phases in which a program is compared with eager.
COMPARED = PHASES[:3]


@dataclass(frozen=True)
class Fault:
    """One bug: how it shows, where it is listed, and the results of some runs that are put down to it."""

    bug: Bug
    kind: str
    stacks: tuple[str, ...]
    releases: str
    #: How many cases the ledgers list with it, and how many results show it.
    listed: int
    seen: int

    @property
    def first(self) -> str:
        """The lowest rung of torch's ladder among the stacks that show it."""
        return self.bug.rung or next((rung for rung in LAYERS if rung in self.stacks), self.stacks[0])


def faults(bugs: Mapping[str, Bug], ledgers: Iterable[Ledger], results: Sequence[CaseResult]) -> list[Fault]:
    """The faults by these bugs, silent ones first, then those that most results show."""
    entries: dict[str, list[tuple[str, Entry]]] = {name: [] for name in bugs}
    signatures: dict[str, list[tuple[str, Signature]]] = {name: [] for name in bugs}
    for ledger in ledgers:
        for entry in ledger.entries:
            entries[entry.bug.id].append((ledger.stack, entry))
        for signature in ledger.signatures:
            signatures[signature.bug.id].append((ledger.stack, signature))
    found = []
    for name, bug in bugs.items():
        shown = [one for one in results if shows(one, bug)]
        listed = [one for _, one in entries[name]]
        drawn = [one for _, one in signatures[name]]
        found.append(
            Fault(
                bug,
                _kind(bug, listed, drawn),
                tuple(
                    sorted({stack for stack, _ in (*entries[name], *signatures[name])} | {one.stack for one in shown})
                ),
                union([*(one.torch for one in listed), *(one.torch for one in drawn)]),
                len({one.case for one in listed}),
                len(shown),
            )
        )
    order = list(KINDS)
    return sorted(found, key=lambda one: (order.index(one.kind), -one.seen, -one.listed, one.bug.title))


def shows(result: CaseResult, bug: Bug) -> bool:
    """Whether a result is as expected because of this bug, which its reason then names."""
    if result.outcome == "known_failure":
        return result.reason == str(bug)
    return result.outcome == "inherited" and f": {bug.id}, {bug}" in result.reason


def _kind(bug: Bug, listed: Sequence[Entry], drawn: Sequence[Signature]) -> str:
    """As somebody has written down; else by what the ledgers list: a wrong observable is graver than an exception.

    Ledgers do not say what eager does: that eager raises as well, or that the process ends, has to be written down.
    """
    if bug.kind is not None:
        return bug.kind
    wrong = [one for one in listed if one.phase in COMPARED and one.exception is None]
    if wrong or not all(one.signature.startswith("exception ") for one in drawn):
        return "silent"
    return "loud" if drawn or any(one.exception is not None for one in listed) else "other"


def union(ranges: Iterable[str]) -> str:
    """The torch releases that lie in any of these ranges, as a range: ``>=2.9``, or ``>=2.9,<2.11 or >=2.13``."""
    spans: list[tuple[Version, Version | None]] = []
    for low, high in sorted(map(_span, ranges), key=lambda span: (span[0], span[1] is None, span[1] or span[0])):
        if spans and (spans[-1][1] is None or low <= spans[-1][1]):
            start, end = spans[-1]
            spans[-1] = (start, None if end is None or high is None else max(end, high))
        else:
            spans.append((low, high))
    return " or ".join(f">={low}" + (f",<{high}" if high else "") for low, high in spans)


def _span(text: str) -> tuple[Version, Version | None]:
    bounds = {one.operator: Version(one.version) for one in SpecifierSet(text)}
    return bounds.get(">=", Version("0")), bounds.get("<")
