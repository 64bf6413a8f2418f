"""What a run of the suite keeps: targets, ledgers, verdicts and the results folder. Knows nothing of pytest."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from conformance import ledger
from conformance.contract import AREAS, clauses
from conformance.environment import environment, suite
from conformance.expect import ExpectationMismatch
from conformance.results import CaseResult, Discrepancy, Results, ResultsError

WRITE_EVERY = 2.0


class SessionError(ValueError):
    """Wrong options; one line that says what exists."""


@dataclass(frozen=True)
class Target:
    """A stack on a device, as it stands in brackets in a pytest id."""

    stack: str
    device: str

    def __str__(self) -> str:
        return f"{self.stack}@{self.device}"


@dataclass(frozen=True)
class Failure:
    """How a case failed, in the terms of a ledger."""

    stage: str
    observables: frozenset[str] = frozenset()
    exception: str | None = None
    discrepancies: tuple[Discrepancy, ...] = ()
    #: A fault of the suite or the case, which no ledger can excuse.
    of_the_suite: bool = False

    @staticmethod
    def of(error: BaseException) -> Failure:
        if isinstance(error, ExpectationMismatch):
            found = Discrepancy("expectation", error.subject, "the literal", "another text")
            return Failure("expectation", frozenset({"expectation"}), None, (found,))
        if hasattr(error, "stage") and isinstance(error, AssertionError):
            discrepancies = tuple(getattr(error, "discrepancies", ()))
            names = frozenset(found.name for found in discrepancies)
            exception = getattr(error, "exception", None)
            return Failure(str(error.stage), names, exception, discrepancies)
        if isinstance(error, AssertionError):
            return Failure("call", frozenset({"assertion"}))
        return Failure("call", exception=type(error).__name__, of_the_suite=True)


def area_of(case: str) -> str:
    return case.split("/", 1)[0]


def root_of(file: Path) -> Path | None:
    """The cases root above a file: the folder whose child on the way is an area."""
    for parent in file.parents:
        if parent.name in AREAS:
            return parent.parent
    return None


def case_id(nodeid: str, targets: Iterable[Target]) -> tuple[str, Target | None]:
    """The case's id and its target, from a pytest node id: ``area/file.py::name[own parameters]``."""
    path, _, name = nodeid.partition("::")
    area = re.search(rf"(?:^|/)((?:{'|'.join(AREAS)})/.*)$", path)
    path = area.group(1) if area else path
    base, bracket, inside = name.partition("[")
    inside = inside[:-1] if bracket else ""
    for target in targets:
        text = str(target)
        for pattern in (
            rf"^{re.escape(text)}$",
            rf"^{re.escape(text)}-",
            rf"-{re.escape(text)}$",
            rf"-{re.escape(text)}(?=-)",
        ):
            if re.search(pattern, inside):
                own = re.sub(pattern, "", inside, count=1)
                return f"{path}::{base}" + (f"[{own}]" if own else ""), target
    return f"{path}::{name}", None


def manifest(root: Path) -> list[str] | None:
    file = root / "manifest.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else None


def shipped_ledger(root: Path, stack: str) -> Path:
    return root.parent / "known_failures" / f"{stack}.toml"


def ledgers(root: Path, stacks: Iterable[str], own: Sequence[str]) -> dict[str, list[ledger.Entry]]:
    """The known failures of each stack: the shipped ledger's and those of the files named."""
    added = [entry for path in own for entry in ledger.load(path)]
    found = {}
    for stack in stacks:
        shipped = shipped_ledger(root, stack)
        found[stack] = (ledger.load(shipped) if shipped.is_file() else []) + added
    known = manifest(root)
    if known is not None:
        for stack, entries in found.items():
            for unknown in ledger.unknown_cases(entries, known):
                raise SessionError(
                    f"the ledger of {stack} names the case {unknown!r}, which cases/manifest.txt does not list "
                    "(`conformance manifest` writes it)"
                )
    return found


def shard_of(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    matched = re.fullmatch(r"(\d+)/(\d+)", text)
    if not matched or not 1 <= int(matched[1]) <= int(matched[2]):
        raise SessionError(f"--shard takes I/N with 1 <= I <= N, as 2/4, not {text!r}")
    return int(matched[1]), int(matched[2])


def in_shard(case: str, shard: tuple[int, int], cases: Collection[str]) -> bool:
    """Every N-th case by id, so that each shard has the same share of each area."""
    index, count = shard
    return sorted(cases).index(case) % count == index - 1


def verdict(failure: Failure | None, entry: ledger.Entry | None) -> tuple[str, str]:
    """The outcome of a case that ran, and the reason, from how it failed and what the ledger says."""
    if failure is None:
        if entry is None:
            return "pass", ""
        return "unexpected_pass", f"passes, but is listed as a known failure ({entry.describe()}): remove this entry"
    if failure.of_the_suite:
        return "error", f"a fault of the case or the suite: {failure.exception}"
    if entry is None:
        return "fail", f"in {failure.stage}"
    if entry.explains(failure.stage, failure.observables, failure.exception):
        return "known_failure", f"{entry.reason} ({entry.link})"
    seen = failure.exception or ", ".join(sorted(failure.observables))
    return (
        "fail",
        f"fails otherwise than the ledger says: {entry.describe()} is listed, {failure.stage}: {seen} is seen",
    )


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
        for stage, text in record["graphs"].items():
            graphs[stage] = f"{graphs[stage]}\n\n{text}" if stage in graphs else text
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


def told(result: CaseResult, message: str) -> str:
    """A failure as it is printed: subject, what differs, clause, where, next command."""
    lines = [f"{result.case}   {result.outcome}   {result.stack}, {result.device}"]
    for name in result.clauses:
        lines += [f"  clause   {name}", f"           {clauses()[name].sentence}"]
    lines += [f"  {line}" for line in message.splitlines()]
    if result.reason:
        lines.append(f"  {result.reason}")
    if result.first_divergence:
        lines.append(f"  first divergence: {result.first_divergence}")
    lines.append(f"  alone: conformance run --stack {result.stack} --device {result.device} -k {_name(result.case)!r}")
    return "\n".join(lines)


def _name(case: str) -> str:
    return re.split(r"::|\[", case)[1]


@dataclass
class ResultFolder:
    """Collects results and keeps the folder's files readable at any moment."""

    folder: Path | None
    options: dict[str, Any]
    kept: Mapping[tuple[str, str, str], CaseResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started = time.time()
        self._written = 0.0
        self.results = Results(
            suite=suite(),
            environment=environment(),
            options=self.options,
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            results=list(self.kept.values()),
        )

    def add(self, result: CaseResult) -> None:
        known = self.results.by_key()
        if result.key in known:
            self.results.results.remove(known[result.key])
        self.results.results.append(result)
        if time.time() - self._written > WRITE_EVERY:
            self.write()

    def add_missing(self, listed: Iterable[str], targets: Iterable[Target]) -> list[CaseResult]:
        """A listed case without a result is not as expected: a suite must not shrink silently."""
        known = self.results.by_key()
        missing = [
            result(case, target, "missing", "listed in cases/manifest.txt, and no result came")
            for target in targets
            for case in listed
            if (case, target.stack, target.device) not in known
        ]
        self.results.results += missing
        return missing

    def write(self) -> None:
        self._written = time.time()
        self.results.seconds = round(self._written - self._started, 1)
        if self.folder is not None:
            self.results.write(self.folder / "results.json")

    def failures(self) -> list[ledger.Failure]:
        """What a draft of a ledger holds: everything that failed."""
        return [_drafted(one) for one in self.results.results if one.outcome == "fail"]

    def write_reports(self) -> None:
        from conformance.report import html_report, markdown_summary

        self.write()
        if self.folder is not None:
            (self.folder / "report.html").write_text(html_report([self.results]), encoding="utf-8")
            (self.folder / "summary.md").write_text(markdown_summary([self.results]), encoding="utf-8")


def _drafted(result: CaseResult) -> ledger.Failure:
    raised = [found.actual.split() for found in result.discrepancies if found.observable == "exception"]
    stage = re.match(r"in (\w+)", result.reason)
    return ledger.Failure(
        case=result.case,
        device=result.device,
        stage=stage[1] if stage else "call",
        observables=frozenset(found.name for found in result.discrepancies) or frozenset({"assertion"}),
        exception=raised[0][1] if raised and raised[0][1:2] != ["nothing"] else None,
        reason="To be written: what is broken.",
        script=f"conformance script '{result.case}' --stack {result.stack} --device {result.device}",
    )


def resumed(folder: str) -> dict[tuple[str, str, str], CaseResult]:
    """What an earlier run found as expected, by key; those cases are not run again."""
    if not folder:
        return {}
    try:
        earlier = Results.read(Path(folder) / "results.json")
    except ResultsError as error:
        raise SessionError(f"--resume: {error}") from error
    return {key: one for key, one in earlier.by_key().items() if one.as_expected}


def script_name(case: str, target: Target) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", ".", f"{case}.{target.stack}.{target.device}").strip(".") + ".py"
