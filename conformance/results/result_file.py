"""The result file: what one run found, as data that is written, read and counted."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from shlex import quote
from typing import Any

from conformance.contract.failure import Discrepancy

SCHEMA = 1

OUTCOMES = (
    "pass",
    "fail",
    "known_failure",
    "inherited",
    "unexpected_pass",
    "not_applicable",
    "unavailable",
    "missing",
    "error",
)
AS_EXPECTED = frozenset({"pass", "known_failure", "inherited", "not_applicable", "unavailable"})
# Outcomes that say nothing about whether the promise is kept.
NO_VERDICT = frozenset({"not_applicable", "unavailable"})

#: What results did not hold in files of earlier versions of the suite, which can be read all the same.
LATER = ("script", "script_shows", "script_reason", "alone", "bug")

Key = tuple[str, str, str]


class ResultsError(ValueError):
    """A result file that cannot be used; the message is one line that names the file."""


@dataclass
class CaseResult:
    """What one case found on one stack and device."""

    case: str
    clauses: list[str]
    area: str
    stack: str
    device: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0
    compile_seconds: float = 0.0
    discrepancies: list[Discrepancy] = field(default_factory=list)
    first_divergence: str | None = None
    graphs: dict[str, str] = field(default_factory=dict)
    recompiles: list[str] = field(default_factory=list)
    graph_breaks: list[str] = field(default_factory=list)
    #: The stand-alone script, and whether it shows the difference; None where it was not run.
    script: str | None = None
    script_shows: bool | None = None
    #: Why there is no script, why it was not run, or what it came to where it does not show the difference.
    script_reason: str | None = None
    #: The command that runs the case alone, with stack and ledgers as they were given.
    alone: str | None = None
    #: The bug of a ledger that explains all that is seen of the stack's own; of a listed case that passes, that bug.
    bug: str | None = None

    @property
    def key(self) -> Key:
        """What makes a result the same one in another run."""
        return (self.case, self.stack, self.device)

    @property
    def as_expected(self) -> bool:
        """Whether the run may be green with this result."""
        return self.outcome in AS_EXPECTED

    @property
    def rerun(self) -> str:
        """The command that runs this case alone, as a shell takes it."""
        return (
            self.alone
            or f"conformance run --case {quote(self.case)} --stack {quote(self.stack)} --device {self.device}"
        )

    def to_json(self) -> dict[str, Any]:
        """The result as it stands in the file."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseResult:
        """The result as it was written; raises `ResultsError` where it was not written by this suite."""
        if isinstance(data, Mapping):
            data = {**dict.fromkeys(LATER), **data}
        _check_keys(data, cls)
        if data["outcome"] not in OUTCOMES:
            raise ResultsError(f"the outcome {data['outcome']!r} is not one of {', '.join(OUTCOMES)}")
        for item in data["discrepancies"]:
            _check_keys(item, Discrepancy)
        return cls(**{**data, "discrepancies": [Discrepancy(**item) for item in data["discrepancies"]]})


@dataclass(frozen=True)
class Count:
    """How many results of one area, stack and device had which outcome."""

    area: str
    stack: str
    device: str
    outcomes: Mapping[str, int]

    @property
    def total(self) -> int:
        """All results, whatever their outcome."""
        return sum(self.outcomes.values())

    @property
    def not_as_expected(self) -> int:
        """Results that make a run fail."""
        return sum(number for outcome, number in self.outcomes.items() if outcome not in AS_EXPECTED)

    @property
    def pass_rate(self) -> float | None:
        """Passes among the results that say whether the stack keeps the promise; None where no result does."""
        judged = sum(number for outcome, number in self.outcomes.items() if outcome not in {*NO_VERDICT, "inherited"})
        return self.outcomes.get("pass", 0) / judged if judged else None

    @property
    def taken_on(self) -> float | None:
        """The share of the contract that the stack takes on: what is not `not_applicable` to it, on devices there."""
        there = self.total - self.outcomes.get("unavailable", 0)
        return 1 - self.outcomes.get("not_applicable", 0) / there if there else None


@dataclass
class Results:
    """One run: where it ran, with which options, and what each case found."""

    suite: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    started: str = ""
    seconds: float = 0.0
    results: list[CaseResult] = field(default_factory=list)
    schema: int = SCHEMA
    #: The run has not come to its end: it goes on, or was killed.
    incomplete: bool = False
    #: What each stack may claim, one record a stack (`conformance.results.claims`).
    claim: list[dict[str, Any]] = field(default_factory=list)
    #: What is not as expected, by root cause, as `conformance.results.findings` tells it.
    findings: list[dict[str, Any]] = field(default_factory=list)

    def by_key(self) -> dict[Key, CaseResult]:
        """The results by case, stack and device."""
        return {result.key: result for result in self.results}

    @property
    def as_expected(self) -> bool:
        """Whether the run is green; a run without results is not."""
        return bool(self.results) and all(result.as_expected for result in self.results)

    def counts(self) -> list[Count]:
        """The results counted by area, stack and device, each in the order in which it first appears."""
        groups: dict[Key, Counter[str]] = {}
        for result in self.results:
            groups.setdefault((result.area, result.stack, result.device), Counter())[result.outcome] += 1
        return [Count(*key, dict(outcomes)) for key, outcomes in groups.items()]

    def summary(self) -> dict[str, Any]:
        """The counts as they stand in the file."""
        outcomes = Counter(result.outcome for result in self.results)
        return {
            "total": len(self.results),
            "as_expected": self.as_expected,
            "outcomes": {outcome: outcomes[outcome] for outcome in OUTCOMES if outcomes[outcome]},
            "areas": [
                {**asdict(count), "total": count.total, "pass_rate": count.pass_rate, "taken_on": count.taken_on}
                for count in self.counts()
            ],
        }

    def to_json(self) -> dict[str, Any]:
        """The whole file."""
        return {
            "schema": self.schema,
            "suite": self.suite,
            "environment": self.environment,
            "options": self.options,
            "started": self.started,
            "seconds": self.seconds,
            "incomplete": self.incomplete,
            "claim": self.claim,
            "findings": self.findings,
            "summary": self.summary(),
            "results": [result.to_json() for result in self.results],
        }

    def write(self, path: str | Path) -> None:
        """Write the file so that a reader never sees half of it; compressed where its name ends with `.gz`."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = f"{json.dumps(self.to_json(), indent=1, ensure_ascii=False)}\n".encode()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            unfinished.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    @classmethod
    def read(cls, path: str | Path) -> Results:
        """Read a file that `write` wrote, compressed or not."""
        try:
            content = Path(path).read_bytes()
            data = json.loads((gzip.decompress(content) if Path(path).suffix == ".gz" else content).decode())
        except FileNotFoundError:
            raise ResultsError(f"{path}: no such file") from None
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise ResultsError(f"{path}: cannot be read: {error}") from error
        except json.JSONDecodeError as error:
            raise ResultsError(f"{path}: not JSON: {error}") from error
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ResultsError(f'{path}: not a result file: it lacks "schema": {SCHEMA}')
        data.pop("summary", None)
        data = {"incomplete": False, "claim": [], "findings": [], **data}
        where, results = str(path), []
        try:
            _check_keys(data, cls)
            for number, item in enumerate(data["results"]):
                where = f"{path}: results[{number}]"
                results.append(CaseResult.from_json(item))
        except (ResultsError, TypeError, AttributeError) as error:
            raise ResultsError(f"{where}: {error}") from error
        return cls(**{**data, "results": results})


def _check_keys(data: Mapping[str, Any], kind: type[Any]) -> None:
    if not isinstance(data, Mapping):
        raise ResultsError(f"expected an object, found {type(data).__name__}")
    known = {entry.name for entry in fields(kind)}
    if set(data) != known:
        groups = (("missing", known - set(data)), ("unknown", set(data) - known))
        raise ResultsError("; ".join(f"{word} {', '.join(sorted(keys))}" for word, keys in groups if keys))
