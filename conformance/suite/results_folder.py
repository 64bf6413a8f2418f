"""The results folder: collects the results of a run and keeps its files readable at any moment."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from conformance.contract.registry import AREAS
from conformance.results.bugs import Bug
from conformance.results.findings import findings
from conformance.results.ledger_text import Failure, LedgerText
from conformance.results.result_file import CaseResult, Key, Results
from conformance.run.environment import environment, suite
from conformance.stacks import given
from conformance.standalone.writing import TOGETHER, try_all
from conformance.suite.outcomes.outcome import result
from conformance.suite.target import Target

WRITE_EVERY = 2.0
#: Scripts of one finding that are run, the shortest first, until one shows it.
MOST_TRIED = 3


class ResultFolder:
    """The results so far; without a folder they are only counted."""

    def __init__(
        self, folder: Path | None, options: dict[str, Any], targets: Sequence[Target], kept: Mapping[Key, CaseResult]
    ) -> None:
        self.folder, self.targets = folder, targets
        self._found: dict[Key, CaseResult] = dict(kept)
        self._failures: dict[Key, Mapping[str, Any]] = {}
        self._started = time.time()
        self._written = 0.0
        self._unwritten = Results(
            suite=suite(),
            environment=environment(),
            options=options,
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            incomplete=True,
        )

    @property
    def results(self) -> Results:
        """The run as it stands: areas in the order of the contract, cases by id, stacks as they were named."""

        def order(one: CaseResult) -> tuple[int, str, int]:
            area = AREAS.index(one.area) if one.area in AREAS else len(AREAS)
            return area, one.case, self.targets.index(Target(one.stack, one.device))

        self._unwritten.results = sorted(self._found.values(), key=order)
        self._unwritten.seconds = round(time.time() - self._started, 1)
        return self._unwritten

    def add(self, result: CaseResult, failure: Mapping[str, Any] | None = None) -> None:
        """Keep a result, the last of its case and target; ``failure`` is what a draft of a ledger needs."""
        self._found[result.key] = result
        self._failures.pop(result.key, None)
        if failure is not None:
            self._failures[result.key] = failure
        if time.time() - self._written > WRITE_EVERY:
            self.write()

    def add_script(self, case: str, target: Target, path: str | None, shows: bool | None, reason: str | None) -> None:
        """Keep where the script of a result lies, and whether it shows the difference; why it does not, or is none."""
        found = self._found.get((case, target.stack, target.device))
        if found is not None:
            found.script, found.script_shows, found.script_reason = path, shows, reason

    def try_scripts(self, workers: int) -> list[str]:
        """Run scripts of each finding until one shows it, `MOST_TRIED` at most; a line for each that does not."""
        ends, failed = time.monotonic() + TOGETHER, []
        found = findings(self._found.values())
        for _ in range(MOST_TRIED):
            scripts = {}
            for finding in found:
                untried = [one for one in finding.by_length if one.script and one.script_shows is None]
                if untried and not finding.shortest.script_shows:
                    # What shows the cause is looked at first, so that its script is tried before a consequence's.
                    first = min(untried, key=lambda one: one.key in finding.consequences)
                    scripts[Path(str(first.script))] = first
            seen = {path: {found.name for found in one.discrepancies} for path, one in scripts.items()}
            for path, outcome in try_all(seen, workers, ends).items():
                scripts[path].script_shows, scripts[path].script_reason = outcome.shows, outcome.reason or None
                failed += [str(outcome)] if outcome.shows is False else []
        return failed

    def add_missing(self, listed: Iterable[str]) -> int:
        """A listed case without a result is not as expected: a suite must not shrink silently."""
        before = len(self._found)
        for case in listed:
            for target in self.targets:
                one = result(case, target, "missing", "listed in cases/manifest.txt, and no result came")
                self._found.setdefault(one.key, one)
        return len(self._found) - before

    def begin(self) -> None:
        """Say that a run is under way; its first result is written at once."""
        self.write()
        self._written = 0.0

    def claim(self, claims: list[dict[str, Any]]) -> None:
        """Keep what the stacks may claim by these results, in the file too: what follows takes long."""
        self._unwritten.claim = claims
        self.write()

    def write(self) -> None:
        """Write results.json, whole or not at all."""
        if self.folder is not None:
            self.results.write(self.folder / "results.json")
        self._written = time.time()

    def write_reports(self, *, ended: bool = True) -> None:
        """Write everything: the results, and the views of them; ``ended`` says that the run has come to its end."""
        from conformance.report import html_report, markdown_summary

        self._unwritten.incomplete = not ended
        self._unwritten.findings = [one.to_json() for one in findings(self.results.results)]
        self.write()
        if self.folder is not None:
            (self.folder / "report.html").write_text(html_report([self.results]), encoding="utf-8")
            (self.folder / "summary.md").write_text(markdown_summary([self.results]), encoding="utf-8")

    def edit_ledger(self, path: Path, *, update: bool, shared: Mapping[str, Bug] | None = None) -> list[str]:
        """Add what failed to a ledger, or bring what it says of the cases that ran up to date; what was done, by line.

        What a person has written in an existing file stays; cases that did not run are left as they are.
        """
        [stack] = {target.stack for target in self.targets}
        text = LedgerText.read(path, stack, str(self.results.environment["torch"]), shared or {})
        if update:
            ran = {(one.case, one.device): self._failure(one) for one in self.results.results if self._ran(one)}
            said = text.update(ran)
        else:
            failed = [self._failure(one) for one in self.results.results if one.outcome == "fail" and self._ran(one)]
            said = text.add(filter(None, failed))
        text.write(path)
        return [f"{path}: {line}" for line in said or ["nothing to change"]]

    def _ran(self, one: CaseResult) -> bool:
        return one.outcome in ("pass", "unexpected_pass") or one.key in self._failures

    def _failure(self, one: CaseResult) -> Failure | None:
        found = self._failures.get(one.key)
        if found is None:
            return None
        script = shlex.join(["conformance", "script", one.case, "--stack", given(one.stack), "--device", one.device])
        return Failure(
            one.case, one.device, found["phase"], frozenset(found["observables"]), found["exception"], script
        )
