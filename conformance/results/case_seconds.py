"""How long cases took in earlier runs, kept beside the manifest, so that workers start the longest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from conformance.results.result_file import AS_EXPECTED, NO_VERDICT, CaseResult, ResultsError

FILE = "seconds.tsv"

#: Case and stack to seconds.
Seconds = Mapping[tuple[str, str], float]
Item = TypeVar("Item")


def read_seconds(root: Path) -> dict[tuple[str, str], float]:
    """What the file beside the manifest says; nothing where there is none."""
    file = root / FILE
    if not file.is_file():
        return {}
    found: dict[tuple[str, str], float] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        parts = line.split("\t")
        try:
            case, stack, seconds = parts
            found[case, stack] = float(seconds)
        except ValueError:
            raise ResultsError(
                f"{file}:{number}: not a case, a stack and seconds with tabs between: {line!r}"
            ) from None
    return found


def merge_seconds(known: Seconds, results: Iterable[CaseResult], listed: Iterable[str]) -> dict[tuple[str, str], float]:
    """The seconds that are known, in their place those of listed cases that ran; of several devices the most."""
    ran: dict[tuple[str, str], float] = {}
    for one in results:
        if one.outcome in AS_EXPECTED - NO_VERDICT:
            key = one.case, one.stack
            ran[key] = max(ran.get(key, 0.0), one.seconds)
    cases = set(listed)
    return {key: seconds for key, seconds in {**known, **ran}.items() if key[0] in cases}


def write_seconds(root: Path, seconds: Seconds) -> None:
    """Write the file, a line a case and stack, to a tenth of a second, so that it changes little."""
    lines = [f"{case}\t{stack}\t{number:.1f}\n" for (case, stack), number in sorted(seconds.items())]
    (root / FILE).write_text("".join(lines), encoding="utf-8")


def longest_first(items: Sequence[tuple[float, Item]], workers: int) -> list[Item]:
    """The items in the order in which xdist hands them out: to each of the workers its share, the longest first.

    Work stealing cuts what it gets into as many pieces as there are workers, of equal length, the first ones shorter by
    one where it does not come out even; each worker begins at the front of its piece and steals from others' ends.
    It never steals the case that is next: behind the longest of all waits the shortest.
    """
    ordered = [item for _, item in sorted(items, key=lambda one: -one[0])]
    if 1 < workers < len(ordered):
        ordered.insert(workers, ordered.pop())
    return [item for worker in reversed(range(workers)) for item in ordered[worker::workers]]


def efficiency(seconds: float, workers: int, wall: float) -> float:
    """The share of the workers' time that went into cases."""
    return seconds / (workers * wall)


def spent(results: Sequence[CaseResult], workers: int, wall: float) -> list[str]:
    """How well the workers were used, and the five slowest cases, as the last lines of a run of ``wall`` seconds."""
    total = sum(one.seconds for one in results)
    if not total or not wall:
        return []
    slowest = sorted(results, key=lambda one: -one.seconds)[:5]
    several = f"{workers} worker{'s' if workers > 1 else ''}"
    used = f"efficiency {efficiency(total, workers, wall):.2f}"
    return [
        f"{total:.0f} s of cases on {several} in {wall:.0f} s: {used}; the slowest:",
        *(f"  {one.seconds:6.1f} s  {one.case}  {one.stack}, {one.device}" for one in slowest if one.seconds),
    ]
