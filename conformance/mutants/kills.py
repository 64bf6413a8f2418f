"""The kill matrix, kept beside the manifest: which case kills which mutant for which clause."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from conformance.contract.catalog import function_of
from conformance.results.case_seconds import Seconds
from conformance.results.result_file import ResultsError

FILE = "kills.tsv"

#: A mutant's name and a clause that it breaks.
Charge = tuple[str, str]
#: The cases that kill a mutant for a clause.
Kills = Mapping[Charge, Collection[str]]


def read_kills(root: Path) -> dict[Charge, list[str]]:
    """What the file beside the manifest says; nothing where there is none."""
    file = root / FILE
    found: dict[Charge, list[str]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.is_file() else (), 1):
        parts = line.split("\t")
        if len(parts) != 3:
            raise ResultsError(f"{file}:{number}: not a mutant, a clause and a case with tabs between: {line!r}")
        found.setdefault((parts[0], parts[1]), []).append(parts[2])
    return found


def write_kills(root: Path, kills: Kills) -> None:
    """Write the file, a line a mutant, clause and case."""
    lines = [f"{mutant}\t{clause}\t{case}\n" for (mutant, clause), cases in kills.items() for case in cases]
    (root / FILE).write_text("".join(sorted(set(lines))), encoding="utf-8")


def first_to_try(
    kills: Kills, mutants: Mapping[str, str], cases: Collection[str], seconds: Seconds
) -> dict[Charge, set[str]]:
    """The quickest case that killed each mutant for each clause, and for each case function one more that it killed.

    ``mutants`` are names and bases; kills of others, and by cases that are no more, are left out. ``seconds`` are those
    of the cases on stacks.
    """
    pairs = sorted(
        ((charge, case) for charge in kills if charge[0] in mutants for case in kills[charge] if case in cases),
        key=lambda pair: _cost(pair[1], mutants[pair[0][0]], seconds),
    )
    found: dict[Charge, set[str]] = {}
    for charge, case in pairs:
        found.setdefault(charge, {case})
    killing = {function_of(case) for killers in found.values() for case in killers}
    for charge, case in pairs:
        if function_of(case) not in killing:
            killing.add(function_of(case))
            found[charge].add(case)
    return found


def _cost(case: str, base: str, seconds: Seconds) -> tuple[float, str]:
    return seconds.get((case, base), 1.0), case
