"""Several result files: merged into one run, or an old one compared with a new one."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from conformance.results.result_file import NO_VERDICT, CaseResult, Key, Results, ResultsError
from conformance.results.signature import pattern


def merge(runs: Sequence[Results]) -> Results:
    """One run of several parts of it: shards, or machines with different devices.

    Where two parts have the same case, stack and device, an outcome wins over `unavailable` (from the machine without
    the device), any result wins over `missing`, equal ones are one, and those that disagree are refused.
    """
    if not runs:
        raise ResultsError("there is nothing to merge")
    for name, values in (
        ("torch releases", [str(run.environment.get("torch")) for run in runs]),
        ("versions of the suite", [f"{run.suite.get('version')} {run.suite.get('commit')}" for run in runs]),
    ):
        if len(set(values)) > 1:
            different = ", ".join(dict.fromkeys(values))
            raise ResultsError(f"different {name} are not one run: {different} (`report` shows them side by side)")
    merged: dict[Key, CaseResult] = {}
    for result in (result for run in runs for result in run.results):
        known = merged.get(result.key)
        if known is not None and _disagree(known, result):
            raise ResultsError(
                f"two results disagree: {result.case} on {result.stack}, {result.device} is "
                f"{known.outcome} ({seen(known)}) and {result.outcome} ({seen(result)})"
            )
        if known is None or _weight(result) >= _weight(known):
            merged[result.key] = result
    first = min(runs, key=lambda run: run.started)
    return Results(
        suite=dict(first.suite),
        environment={**first.environment, "gpus": _union(run.environment.get("gpus", []) for run in runs)},
        options={
            key: value for key, value in first.options.items() if all(run.options.get(key) == value for run in runs)
        },
        started=first.started,
        seconds=sum(run.seconds for run in runs),
        incomplete=any(run.incomplete for run in runs),
        results=list(merged.values()),
    )


def _weight(result: CaseResult) -> int:
    return {"missing": 0, "unavailable": 1, "not_applicable": 1}.get(result.outcome, 2)


def _disagree(one: CaseResult, other: CaseResult) -> bool:
    """Whether both say how a case ended, and not the same."""
    return _weight(one) == _weight(other) == 2 and (one.outcome != other.outcome or _fail_differently(one, other))


def _union(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(item for items in lists for item in items))


@dataclass(frozen=True)
class Change:
    """One result in two runs; None where the run has none."""

    key: Key
    old: CaseResult | None
    new: CaseResult | None

    def __str__(self) -> str:
        case, stack, device = self.key
        old, new = (_outcome(one) or "no result" for one in (self.old, self.new))
        return f"{case} on {stack}, {device}: {old} -> {new}"

    @property
    def bug(self) -> str | None:
        """The bug that the new result shows; where it shows none, or there is no new result, that of the old one."""
        shown = (one.bug for one in (self.new, self.old) if one is not None and _rank(one) != _KEPT)
        return next(filter(None, shown), None)

    def to_json(self) -> dict[str, Any]:
        """The change as `compare --json` prints it."""
        reason = self.new.reason if self.new else ""
        outcomes = {"old": _outcome(self.old), "new": _outcome(self.new)}
        return {**_named(self.key), **outcomes, "bug": self.bug, "reason": reason}


@dataclass(frozen=True)
class BugChange:
    """One bug of the ledgers, and how many results show it in each of two runs."""

    bug: str
    title: str
    old: int
    new: int

    def __str__(self) -> str:
        title = f": {self.title}" if self.title else ""
        return f"{self.bug}{title}: results that show it: {self.old} before, {self.new} now"

    def to_json(self) -> dict[str, Any]:
        """The bug as `compare --json` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class GraphChange:
    """A graph whose canonical text is another one in the new run."""

    key: Key
    stage: str
    diff: str

    def to_json(self) -> dict[str, Any]:
        """The change as `compare --json` prints it."""
        return {**_named(self.key), "stage": self.stage, "diff": self.diff}


#: The lists of changes, in the order in which they are shown, with their titles.
LISTS = {
    "regressed": "regressed",
    "fixed": "fixed",
    "new": "new",
    "gone": "gone",
    "fails_differently": "fails differently",
}


@dataclass
class Difference:
    """What changed from an old run to a new one."""

    regressed: list[Change] = field(default_factory=list)
    fixed: list[Change] = field(default_factory=list)
    new: list[Change] = field(default_factory=list)
    gone: list[Change] = field(default_factory=list)
    fails_differently: list[Change] = field(default_factory=list)
    graphs: list[GraphChange] = field(default_factory=list)
    #: The bugs that results of either run show, those that most results lost or gained first.
    bugs: list[BugChange] = field(default_factory=list)

    def by_bug(self, name: str) -> list[tuple[BugChange | None, list[Change]]]:
        """One of the lists by bug, the bug of most changes first; what no ledger explains comes last, under None."""
        groups: dict[str | None, list[Change]] = {}
        for change in getattr(self, name):
            groups.setdefault(change.bug, []).append(change)
        known = {one.bug: one for one in self.bugs}
        order = sorted(groups, key=lambda bug: (bug is None, -len(groups[bug]), bug or ""))
        return [(known[bug] if bug is not None else None, groups[bug]) for bug in order]

    @property
    def line(self) -> str:
        """The counts in one line."""
        counts = [f"{len(getattr(self, name))} {title}" for name, title in LISTS.items()]
        return ", ".join([*counts, f"{len(self.graphs)} graphs changed"])

    def to_json(self) -> dict[str, Any]:
        """The whole comparison as `compare --json` prints it."""
        return {entry.name: [change.to_json() for change in getattr(self, entry.name)] for entry in fields(self)}


def diff(old: Results, new: Results) -> Difference:
    """What regressed (was kept and is broken), got fixed, is new or gone, and the graphs that changed.

    A known failure counts as broken, so that a promise lost between two releases shows even where a ledger excuses it.
    A result that turns `not_applicable` or `unavailable` is gone: a suite must not shrink silently. What was broken and
    still is, with other observables, fails differently: another fault may have taken the place of the first.
    """
    before, after = old.by_key(), new.by_key()
    difference = Difference()
    for key in [*before, *(key for key in after if key not in before)]:
        was, now = before.get(key), after.get(key)
        kind = _kind(_rank(was), _rank(now))
        if was is not None and now is not None:
            difference.graphs += _graph_changes(key, was, now)
            if kind is None and _fail_differently(was, now):
                kind = "fails_differently"
        if kind is not None:
            getattr(difference, kind).append(Change(key, was, now))
    difference.bugs = _bugs(old, new)
    return difference


def _bugs(old: Results, new: Results) -> list[BugChange]:
    counts = [Counter(one.bug for one in run.results if one.bug and _rank(one) != _KEPT) for run in (old, new)]
    # The reason of a known failure is the bug's title; that of an inherited one has it behind rung and id.
    reasons = ((one.bug, one.reason) for one in (*old.results, *new.results) if _rank(one) == _KNOWN and one.bug)
    titles = {bug: reason.rpartition(f": {bug}, ")[2] for bug, reason in reasons}
    found = [BugChange(bug, titles.get(bug, ""), counts[0][bug], counts[1][bug]) for bug in {**counts[0], **counts[1]}]
    return sorted(found, key=lambda one: (-abs(one.new - one.old), one.bug))


_BROKEN, _KNOWN, _KEPT = 0, 1, 2
#: A failure in the words of the ledger, or in its own: the two say the same of it.
_OF_THE_STACK = {"fail", "known_failure", "inherited"}


def _rank(result: CaseResult | None) -> int | None:
    """How well the promise is kept, as a number to compare; None where the result does not say."""
    if result is None or result.outcome in NO_VERDICT:
        return None
    kept = {"pass": _KEPT, "unexpected_pass": _KEPT, "known_failure": _KNOWN, "inherited": _KNOWN}
    return kept.get(result.outcome, _BROKEN)


def _kind(before: int | None, after: int | None) -> str | None:
    if before is None or after is None:
        return None if before is after else "new" if before is None else "gone"
    if after < before:
        return "regressed"
    return "fixed" if after == _KEPT > before else None


def seen(result: CaseResult) -> str:
    """What differs in a result, by name; where nothing is compared, what it said."""
    return ", ".join(sorted({found.name for found in result.discrepancies})) or result.reason or "nothing more is known"


def _fail_differently(old: CaseResult, new: CaseResult) -> bool:
    """Whether two results are of broken promises, and other things differ in them, or another message says why."""
    if not {_rank(old), _rank(new)} <= {_BROKEN, _KNOWN}:
        return False
    if old.discrepancies or new.discrepancies:
        return {found.name for found in old.discrepancies} != {found.name for found in new.discrepancies}
    if old.outcome != new.outcome:
        return not {old.outcome, new.outcome} <= _OF_THE_STACK
    return pattern(old.reason) != pattern(new.reason)


def _graph_changes(key: Key, old: CaseResult, new: CaseResult) -> list[GraphChange]:
    changes = []
    for stage in [stage for stage in old.graphs if stage in new.graphs and old.graphs[stage] != new.graphs[stage]]:
        lines = difflib.unified_diff(
            old.graphs[stage].splitlines(), new.graphs[stage].splitlines(), "old", "new", lineterm=""
        )
        changes.append(GraphChange(key, stage, "\n".join(lines)))
    return changes


def _named(key: Key) -> dict[str, str]:
    return dict(zip(("case", "stack", "device"), key, strict=True))


def _outcome(result: CaseResult | None) -> str | None:
    return result.outcome if result else None
