"""Torch's own faults by release: how many show on a stack of torch's own, which are new there and which are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePath

from packaging.version import Version

from conformance.report.markdown import escaped, table
from conformance.report.state.faults import Fault, shows
from conformance.results.bugs import KINDS
from conformance.results.ledger import in_range
from conformance.results.result_file import NO_VERDICT, CaseResult, Results

#: What a number of the table counts.
COUNTED = (
    "Counted are the faults that a case of the run shows. A fault is new where such a case ran on the release before, "
    "none showed it there, no ledger lists it and its script works there; gone, the other way round."
)


@dataclass(frozen=True)
class Release:
    """What a stack does on one release: the cases with a verdict, and by the id of a bug those that show it."""

    name: str
    stack: str
    device: str
    ran: Set[str]
    shown: Mapping[str, Set[str]]

    def shows_unlike(self, other: Release, fault: Fault, failing: Mapping[str, Set[str]]) -> bool:
        """Whether a case shows the fault here and none there, though such a case ran, and nothing says it is there."""
        listed = any(in_range(span, other.name) for span in fault.releases.split(" or "))
        scripted = other.name in failing.get(PurePath(str(fault.bug.script)).name, ())
        shown = self.shown[fault.bug.id] & other.ran and not other.shown[fault.bug.id]
        return bool(shown) and not (listed or scripted)


def by_release(
    found: Sequence[Fault], stacks: Set[str], runs: Sequence[Results], failing: Mapping[str, Set[str]]
) -> Iterator[str]:
    """The parts of the page; none where no stack of ``stacks`` has complete runs on two releases of one device.

    ``failing`` are the releases on which each script fails, by its file name.
    """
    rows: list[list[str]] = []
    changes: dict[tuple[Version, str], dict[tuple[str, str], list[str]]] = {}
    kinds = {fault.bug.id: fault.kind for fault in found}
    for releases in _several(found, stacks, runs):
        before: Release | None = None
        for one in releases:
            shown = [bug for bug, cases in one.shown.items() if cases]
            counts = Counter(kinds[bug] for bug in shown)
            new = [fault.bug.id for fault in found if before and one.shows_unlike(before, fault, failing)]
            gone = [fault.bug.id for fault in found if before and before.shows_unlike(one, fault, failing)]
            rows.append([one.stack, one.device, one.name, *(str(counts[kind]) for kind in KINDS), str(len(shown))])
            rows[-1] += [str(len(new)), str(len(gone))] if before else ["-", "-"]
            for what, bug in (*(("new", bug) for bug in new), *(("gone", bug) for bug in gone)):
                changes.setdefault((Version(one.name), one.device), {}).setdefault((what, bug), []).append(one.stack)
            before = one
    if not rows:
        return
    yield table(["stack", "device", "torch", *KINDS, "all", "new", "gone"], rows, left=3)
    yield COUNTED
    titles = {fault.bug.id: fault.bug.title for fault in found}
    for (release, device), told in sorted(changes.items()):
        yield f"### Torch {release} on {device}"
        yield "\n".join(
            f"- {what}: {escaped(titles[bug])} ({kinds[bug]}, `{bug}`; {', '.join(where)})"
            for what in ("new", "gone")
            for bug in titles
            if (where := told.get((what, bug)))
        )


def _several(found: Sequence[Fault], stacks: Set[str], runs: Sequence[Results]) -> Iterator[list[Release]]:
    """The releases of each stack and device that have a complete run, where these are several, oldest first."""
    every: dict[tuple[str, str], dict[str, list[CaseResult]]] = {}
    for run in runs:
        release = run.environment.get("torch")
        if release and not run.incomplete:
            for one in run.results:
                if one.stack in stacks and one.outcome != "unavailable":
                    mine = every.setdefault((one.stack, one.device), {})
                    mine.setdefault(str(Version(release).public), []).append(one)
    for (stack, device), releases in sorted(every.items()):
        if len(releases) > 1:
            yield [
                Release(
                    name,
                    stack,
                    device,
                    {one.case for one in releases[name] if one.outcome not in NO_VERDICT},
                    {fault.bug.id: {one.case for one in releases[name] if shows(one, fault.bug)} for fault in found},
                )
                for name in sorted(releases, key=Version)
            ]
