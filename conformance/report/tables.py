"""The figures that all views show: several result files as columns, areas and cases as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.contract.registry import AREAS
from conformance.results.result_file import AS_EXPECTED, OUTCOMES, CaseResult, Count, Key, Results

GROUPS = (
    ("pass", ("pass",)),
    ("known failure", ("known_failure",)),
    ("not as expected", tuple(name for name in OUTCOMES if name not in AS_EXPECTED)),
    ("inherited", ("inherited",)),
    ("not applicable", ("not_applicable",)),
    ("unavailable", ("unavailable",)),
)
ALL_AREAS = "all areas"


@dataclass(frozen=True)
class Row:
    """One area on one stack and device, counted in each result file; None where a file has no such result."""

    area: str
    stack: str
    device: str
    counts: list[Count | None]


@dataclass(frozen=True)
class Line:
    """One case on one stack and device, with its result in each file; None where a file has none."""

    key: Key
    results: list[CaseResult | None]

    @property
    def found(self) -> list[CaseResult]:
        """The results that there are."""
        return [result for result in self.results if result is not None]

    @property
    def as_expected(self) -> bool:
        """Whether no file has a result that makes a run fail."""
        return all(result.as_expected for result in self.found)

    @property
    def changes(self) -> bool:
        """Whether the files disagree; results of an absent device do not count."""
        return len({result.outcome for result in self.found if result.outcome != "unavailable"}) > 1


def labels(columns: Sequence[Results]) -> list[str]:
    """The title of each column: as short as tells the files apart."""
    parts: list[Callable[[Results], str]] = [
        lambda results: f"torch {results.environment.get('torch', '?')}",
        lambda results: ", ".join(dict.fromkeys(result.stack for result in results.results)),
        lambda results: results.started[:10],
        lambda results: results.started[11:16],
    ]
    names = [parts[0](column) for column in columns]
    for part in parts[1:]:
        if len(set(names)) == len(names):
            break
        added = [part(column) for column in columns]
        if len(set(added)) > 1:
            names = [f"{name}, {more}" if more else name for name, more in zip(names, added, strict=True)]
    seen = Counter(names)
    return [f"{name} ({number})" if seen[name] > 1 else name for number, name in enumerate(names, 1)]


def numbers(count: Count) -> list[int]:
    """The results of one row by group."""
    return [sum(count.outcomes.get(name, 0) for name in names) for _, names in GROUPS]


def rows(columns: Sequence[Results]) -> list[Row]:
    """Areas by stack and device in the order of the contract, then each stack and device over all areas."""
    counted = [{(count.area, count.stack, count.device): count for count in column.counts()} for column in columns]
    keys = list(dict.fromkeys(key for counts in counted for key in counts))
    targets = list(dict.fromkeys(key[1:] for key in keys))
    keys.sort(key=lambda key: (AREAS.index(key[0]) if key[0] in AREAS else len(AREAS), targets.index(key[1:])))
    found = [Row(*key, [counts.get(key) for counts in counted]) for key in keys]
    if len({row.area for row in found}) > 1:
        for target in targets:
            parts = [row for row in found if (row.stack, row.device) == target]
            found.append(Row(ALL_AREAS, *target, [_sum(target, list(counts)) for counts in _transposed(parts)]))
    return found


def _transposed(rows: Sequence[Row]) -> list[tuple[Count | None, ...]]:
    return list(zip(*(row.counts for row in rows), strict=True))


def _sum(target: tuple[str, str], counts: Sequence[Count | None]) -> Count | None:
    outcomes: Counter[str] = Counter()
    for count in counts:
        outcomes.update(count.outcomes if count is not None else {})
    return Count(ALL_AREAS, *target, dict(outcomes)) if outcomes else None


def lines(columns: Sequence[Results]) -> list[Line]:
    """The cases, those first that make a run fail, then those on which the files disagree."""
    by_key = [column.by_key() for column in columns]
    keys = dict.fromkeys(key for found in by_key for key in found)
    every = [Line(key, [found.get(key) for found in by_key]) for key in keys]
    return sorted(every, key=lambda line: (line.as_expected, not line.changes, line.key))


def percent(share: float | None) -> str:
    """A share in percent, rounded; only none reads 0% and only the whole reads 100%."""
    if share is None:
        return "-"
    return f"{round(share * 100) if share in (0, 1) else min(max(round(share * 100), 1), 99)}%"


def short(count: Count | None) -> str:
    """One row of one file in short, for a table with a column for each file."""
    if count is None:
        return "-"
    passed, known, unexpected, inherited, not_applicable, unavailable = numbers(count)
    judged = passed + known + unexpected
    if not judged and not inherited:
        return "not applicable" if not_applicable >= unavailable else "unavailable"
    parts = [f"{passed} of {judged} ({percent(count.pass_rate)})"]
    parts += [f"{known} known"] if known else []
    parts += [f"{inherited} inherited"] if inherited else []
    return ", ".join(parts + ([f"{unexpected} not as expected"] if unexpected else []))


def why(result: CaseResult) -> str:
    """Why a result is what it is, in one line: the reason, and what differs first."""
    parts = [result.reason] if result.reason else []
    if result.discrepancies:
        more = len(result.discrepancies) - 1
        parts.append(str(result.discrepancies[0]) + (f" (and {more} more)" if more else ""))
    return "; ".join(parts)
