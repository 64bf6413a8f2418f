"""Which rows of cases the scope quick leaves out, by what they add: writes cases/full.txt.

``python benchmarks/rows_of_quick.py`` reads the kill matrix (cases/kills.tsv), the ledgers and what cases cost
(cases/seconds.tsv). Of the dearer rows the scope keeps as few as have, together with the cheap ones, for each mutant
and clause one case that kills, for each stack, device and bug one case that shows it, and for each case function one
row. Core rows stay, and so do the areas whose rows are drawn or sampled.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from pathlib import Path

from conformance.contract.catalog import FULL_ONLY, MANIFEST, cases_by_clause, cases_root, function_of
from conformance.contract.registry import clauses
from conformance.contract.scopes import in_scope
from conformance.mutants.kills import read_kills
from conformance.results.case_seconds import read_seconds
from conformance.results.ledger import load_folder

#: Areas whose rows stand for many: samples of operators, programs that were drawn.
WHOLE_AREAS = ("generated/", "operators/")


def purposes(root: Path, cases: Collection[str]) -> dict[Hashable, set[str]]:
    """What a case is there for, and the cases that each serve it."""
    found: dict[Hashable, set[str]] = defaultdict(set)
    for charge, killers in read_kills(root).items():
        found[charge].update(killers)
    for stack, ledger in load_folder(root.parent / "known_failures").items():
        for entry in ledger.entries:
            found[stack, entry.device, entry.bug].add(entry.case)
    for case in cases:
        found[function_of(case)].add(case)
    return {purpose: served & set(cases) for purpose, served in found.items() if served & set(cases)}


def core_functions(root: Path) -> set[str]:
    """The case functions of clauses with a core row."""
    return {
        case
        for name, cases in cases_by_clause(root).items()
        if in_scope("core", clauses()[name].rows)
        for case in cases
    }


def chosen(wanted: Mapping[Hashable, set[str]], seconds: Mapping[str, float]) -> Iterator[str]:
    """Cases that serve all purposes between them: next always the one that serves most of what is left for its cost."""
    left = dict(wanted)
    while left:
        serves = Counter(case for cases in left.values() for case in cases)
        best = min(serves, key=lambda case: (-serves[case] / (seconds[case] + 0.5), case))
        yield best
        left = {purpose: cases for purpose, cases in left.items() if best not in cases}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cheap", type=float, default=3.0, help="seconds on all stacks below which a row stays")
    options = parser.parse_args()

    root = cases_root()
    cases = (root / MANIFEST).read_text(encoding="utf-8").splitlines()
    seconds: dict[str, float] = defaultdict(float)
    for (case, _), number in read_seconds(root).items():
        seconds[case] += number
    core = core_functions(root)
    kept = {
        case
        for case in cases
        if function_of(case) in core or case.startswith(WHOLE_AREAS) or seconds[case] < options.cheap
    }
    wanted = {purpose: served for purpose, served in purposes(root, cases).items() if not served & kept}
    kept.update(chosen(wanted, seconds))
    left = [case for case in cases if case not in kept]
    (root / FULL_ONLY).write_text("".join(f"{case}\n" for case in left), encoding="utf-8")
    saved, total = sum(seconds[case] for case in left), sum(seconds.values())
    print(f"{FULL_ONLY}: {len(left)} of {len(cases)} rows, {saved:.0f} of {total:.0f} s")


if __name__ == "__main__":
    main()
