"""The state of stacks and of torch as one Markdown page, from result files and the bugs that ship."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from packaging.version import Version

from conformance.contract.profiles import PROFILES
from conformance.contract.registry import LEVELS
from conformance.report.finding_blocks import lacking, undeclared
from conformance.report.markdown import code, escaped, table
from conformance.report.state.by_release import by_release
from conformance.report.state.faults import Fault, faults, shows
from conformance.results.bugs import KINDS, UNREPORTED, Bug
from conformance.results.claims import ClaimError, profile_claims
from conformance.results.findings import findings
from conformance.results.ledger import Ledger
from conformance.results.result_file import CaseResult, Key, Results


@dataclass(frozen=True)
class StackRun:
    """What one result file says of one stack."""

    stack: str
    run: Results
    results: Sequence[CaseResult]
    claim: Mapping[str, Any] = field(default_factory=dict)
    #: Those of the claim; where the run made none, counted anew.
    profiles: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Mapping[str, Any]] = ()

    @property
    def torch(self) -> str:
        """The release of torch that it ran on."""
        return str(self.run.environment.get("torch", "?"))

    @property
    def date(self) -> str:
        """The day on which the run began."""
        return self.run.started[:10] or "undated"

    @property
    def devices(self) -> str:
        """The devices on which cases ran."""
        return ", ".join(sorted({one.device for one in self.results if one.outcome != "unavailable"})) or "none"

    @property
    def package(self) -> str:
        """The package of the stack and its version, as far as they are known."""
        return f"{self.claim['package']} {self.claim['version'] or ''}".strip() if self.claim else "?"

    @property
    def order(self) -> tuple[Any, ...]:
        """Its place on the page, whatever the order of the files."""
        release = Version(self.torch) if self.torch != "?" else Version("0")
        return self.stack, release, self.devices, self.run.started


def state_page(
    columns: Sequence[Results],
    bugs: Mapping[str, Bug],
    ledgers: Iterable[Ledger],
    records: Sequence[Mapping[str, Any]] = (),
    failing: Mapping[str, Set[str]] | None = None,
) -> str:
    """The text of the page: profiles, commands and findings by stack, then torch's own faults.

    ``records`` are the clauses, by which the profiles of a run that was ended before it made a claim are counted;
    ``failing`` the releases on which the scripts of faults fail.
    """
    runs = sorted((one for column in columns for one in _stacks(column, records)), key=lambda one: one.order)
    ledgers = list(ledgers)
    found = faults(bugs, ledgers, [one for run in runs for one in run.results])
    released = list(by_release(found, {one.stack for one in ledgers}, columns, failing or {}))
    parts = [
        "# State",
        "Written by `conformance state`: every number is that of a result file or of `known_failures/`.",
        "## Stacks",
        "A profile `conforms`, `fails`, or is `partial` where something did not run; beside it, MUST clauses kept/all.",
        table(["stack", "package", "torch", "device", "date", *PROFILES, "findings"], map(_summary, runs), left=11),
        "<details><summary>Clauses by profile: kept, broken, not run</summary>",
        _profiles(runs),
        "</details>",
        "## Runs",
        "\n".join(map(_run, runs)),
        "## Findings",
        *(part for run in runs for part in _findings(run, bugs)),
        "## Faults of torch",
        *_faults(found, [one for run in runs for one in run.results]),
        *(["## Faults by release", *released] if released else []),
    ]
    return "\n\n".join(parts) + "\n"


def _stacks(run: Results, records: Sequence[Mapping[str, Any]]) -> Iterator[StackRun]:
    """The stacks of one result file; one that has results and no claim, as of a run that was killed, is among them."""
    claims = {one["stack"]: one for one in run.claim}
    # Made anew, so that runs of several versions of the suite are grouped by the same rules.
    told = [one.to_json() for one in findings(run.results)]
    for stack in {**claims, **dict.fromkeys(one.stack for one in run.results)}:
        results = [one for one in run.results if one.stack == stack]
        claim = claims.get(stack, {})
        profiles = claim["profiles"] if claim else _counted(records, results)
        yield StackRun(stack, run, results, claim, profiles, [one for one in told if one["stack"] == stack])


def _counted(records: Sequence[Mapping[str, Any]], results: Sequence[CaseResult]) -> dict[str, Any]:
    with contextlib.suppress(ClaimError):  # without clauses there is no profile
        return {name: profile.to_json() for name, profile in profile_claims(records, results).items()}
    return {}


def _summary(one: StackRun) -> list[str]:
    statuses = [_status(one.profiles[name]) if name in one.profiles else "-" for name in PROFILES]
    return [one.stack, one.package, one.torch, one.devices, one.date, *statuses, str(len(one.findings))]


def _status(profile: Mapping[str, Any]) -> str:
    counts = profile["must"]
    return f"{profile['status']} {counts['kept']}/{sum(counts.values())}"


def _profiles(runs: Sequence[StackRun]) -> str:
    counts = ("kept", "broken", "not_run")
    heads = ["stack", "torch", "device", "date", "profile", "status"]
    heads += [f"{level} {name.replace('_', ' ')}" for level in LEVELS for name in counts]
    body = [
        [one.stack, one.torch, one.devices, one.date, name, profile["status"]]
        + [str(profile[level.lower()][count]) for level in LEVELS for count in counts]
        for one in runs
        for name, profile in one.profiles.items()
    ]
    return table(heads, body, left=6)


def _run(one: StackRun) -> str:
    """Which run it was, and how it is repeated."""
    commit, _, changed = str(one.run.suite.get("commit") or "no commit").partition("-")
    suite = f"suite {one.run.suite.get('version', '?')} at {commit[:12]}{', changed' if changed else ''}"
    command = code(one.claim["command"]) if one.claim else "the file has no command"
    incomplete = ", **incomplete**" if one.run.incomplete else ""
    count = f"{len(one.results)} results{incomplete}"
    return f"- {one.stack}, torch {one.torch}, {one.devices}, {one.date}: {count}, {suite}: {command}"


def _findings(one: StackRun, bugs: Mapping[str, Bug]) -> Iterator[str]:
    """What the stack was found not to do, and the causes of its failures, those that explain most results first."""
    denied = [f"- no {names}: {escaped(seen)}" for names, seen in sorted(lacking(one.claim))] if one.claim else []
    if one.claim and (silent := undeclared(one.claim)):
        denied.append(f"- not declared, so that cases which need one of them did not run: {', '.join(silent)}")
    denied += [f"- {name} {escaped(why)}" for name, why in sorted(one.claim.get("unclear", {}).items())]
    if not denied and not one.findings:
        return
    yield f"### {one.stack} ({one.package}) on torch {one.torch}, {one.devices}, {one.date}"
    if denied:
        yield "\n".join(["What a probe found the stack not to do:", "", *denied])
    if one.findings:
        by_key = {result.key: result for result in one.results}
        ordered = sorted(one.findings, key=lambda finding: (-len(finding["results"]), finding["sentence"]))
        body = [
            [
                str(len(finding["results"])),
                escaped(finding["sentence"]),
                finding["origin"],
                finding["rung"] or "-",
                _bug(finding["bug"], bugs),
                _script(finding, by_key),
            ]
            for finding in ordered
        ]
        yield table(["results", "finding", "fault of", "first on", "bug", "script"], body, left=6)
        explained = sum(len(finding["results"]) for finding in ordered)
        told = "1 finding explains" if len(ordered) == 1 else f"{len(ordered)} findings explain"
        yield f"{told} {explained} of {len(one.results)} results."


def _bug(name: str | None, bugs: Mapping[str, Bug]) -> str:
    return _link(bugs[name]) if name and name in bugs else name or UNREPORTED


def _link(bug: Bug) -> str:
    """Where the bug is reported; what is not has a script."""
    if bug.link == UNREPORTED:
        return f"{UNREPORTED}, {code(str(bug.script))}"
    return f"[{'/'.join(bug.link.rsplit('/', 2)[-2:])}]({bug.link})"


def _script(finding: Mapping[str, Any], by_key: Mapping[Key, CaseResult]) -> str:
    """The script of the finding, which lies in the results folder of its run."""
    if finding["script"] is None:
        return "-"
    keys = [key for key in map(tuple, finding["results"]) if key in by_key]
    fails_to_show = any(by_key[key].script_shows is False for key in keys if by_key[key].script == finding["script"])
    shown = code("/".join(PurePath(finding["script"]).parts[-2:]))
    return shown + (" (does not show it)" if fails_to_show else "")


def _faults(found: Sequence[Fault], results: Sequence[CaseResult]) -> Iterator[str]:
    yield "\n".join(f"- {kind}: {meaning}" for kind, meaning in KINDS.items())
    body = [
        [
            one.kind,
            escaped(one.bug.title),
            _link(one.bug),
            ", ".join(one.stacks),
            code(one.releases),
            str(one.listed),
            str(one.seen),
        ]
        for one in found
    ]
    heads = ["kind", "fault", "reported", "stacks", "torch", "cases listed", "results here"]
    yield table(heads, body, left=5)
    kinds = Counter(one.kind for one in found)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)
    unreported = sum(one.bug.link == UNREPORTED for one in found)
    known = [one for one in results if one.outcome == "known_failure"]
    others = sum(not any(shows(one, fault.bug) for fault in found) for one in known)
    yield (
        f"{len(found)} faults: {counts}; {unreported} unreported; {sum(one.seen > 0 for one in found)} show in these "
        f"runs, in {sum(one.seen for one in found)} results. Of {len(known)} known failures in these runs {others} are "
        "put down to none of these faults."
    )
