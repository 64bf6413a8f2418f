"""The figures all views show: areas by stack and device, and cases whose outcome differs between files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.results import CaseResult, Count, Key, Results

GROUPS = (
    ("pass", ("pass",)),
    ("known failure", ("known_failure",)),
    ("not as expected", ("fail", "unexpected_pass", "missing", "error")),
    ("not applicable", ("not_applicable",)),
    ("unavailable", ("unavailable",)),
)


@dataclass(frozen=True)
class Row:
    """One area on one stack and device, in one result file."""

    column: str
    count: Count

    def numbers(self) -> list[int]:
        return [sum(self.count.outcomes.get(name, 0) for name in names) for _, names in GROUPS]


def label(results: Results) -> str:
    """What a column is called: the torch release, and when it ran."""
    return f"torch {results.environment.get('torch', '?')}, {results.started[:10] or 'undated'}"


def rows(columns: Sequence[Results]) -> list[Row]:
    return [Row(label(column), count) for column in columns for count in column.counts()]


def not_as_expected(results: Results) -> list[CaseResult]:
    return [result for result in results.results if not result.as_expected]


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def differing(columns: Sequence[Results]) -> dict[Key, list[str]]:
    """Per result the outcome in each column, where the columns do not agree."""
    by_key = [column.by_key() for column in columns]
    keys = list(dict.fromkeys(key for column in by_key for key in column))
    outcomes = {key: [column[key].outcome if key in column else "-" for column in by_key] for key in keys}
    return {key: found for key, found in outcomes.items() if len(set(found)) > 1}
