"""Trials of mutants: which case kills which, run in parallel, the unmutated base first."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.contract import catalog
from conformance.contract.registry import clauses, nearest
from conformance.mutants import MutantStack, all_mutants
from conformance.mutants.trial_plugin import FOLDER, function_of
from conformance.results.result_file import CaseResult, Results
from conformance.suite.options import UsageError
from conformance.suite.pytest_run import case_ids, run_cases

Pair = tuple[str, str]


@dataclass
class Verdicts:
    """What became of every mutant: the cases that killed it, in the order in which they ran."""

    mutants: Sequence[MutantStack]
    killed_by: dict[str, list[str]] = field(default_factory=dict)
    #: Cases, without parameters, that were held against at least one mutant.
    tried: set[str] = field(default_factory=set)
    #: What the unmutated bases show that is not as expected.
    unclean: list[str] = field(default_factory=list)

    @property
    def survivors(self) -> list[MutantStack]:
        return [mutant for mutant in self.mutants if mutant.name not in self.killed_by]

    @property
    def idle(self) -> list[str]:
        """Cases that were tried and killed nothing."""
        kills = {function_of(case) for cases in self.killed_by.values() for case in cases}
        return sorted(self.tried - kills)

    def to_json(self) -> dict[str, Any]:
        rows = [
            {
                "name": mutant.name,
                "breaks": mutant.breaks,
                "killed": mutant.name in self.killed_by,
                "killed_by": next(iter(self.killed_by.get(mutant.name, ())), None),
            }
            for mutant in self.mutants
        ]
        return {"mutants": rows, "killed": len(self.killed_by), "total": len(self.mutants)}


def chosen(names: Iterable[str], areas: Iterable[str]) -> list[MutantStack]:
    """The mutants of these names and areas, all of them where none are named."""
    known = all_mutants()
    for name in names:
        if name not in known:
            raise UsageError(f"unknown mutant {name!r}; {nearest(name, known)}")
    areas = set(areas) or {mutant.area for mutant in known.values()}
    found = [known[name] for name in names] or list(known.values())
    found = [mutant for mutant in found if mutant.area in areas]
    if not found:
        raise UsageError(f"no mutant breaks a clause of {', '.join(sorted(areas))}")
    return found


def try_all(mutants: Sequence[MutantStack], workers: str) -> Verdicts:
    """Hold each mutant against the cases of its clause, and those that survive against the rest of its area."""
    root = catalog.cases_root()
    proved = catalog.cases_by_clause(root)
    ids = case_ids(root)
    verdicts = Verdicts(mutants)
    base_outcomes: dict[Pair, CaseResult] = {}
    for rest_of_area in (False, True):
        pairs = [
            (mutant, case)
            for mutant in (verdicts.survivors if rest_of_area else mutants)
            for case in ids
            if _concerns(mutant, case, proved, rest_of_area)
        ]
        wanted = {(mutant.base, case) for mutant, case in pairs} - set(base_outcomes)
        for result in _run(root, wanted, {base: base for base, _ in wanted}, workers):
            base_outcomes[result.stack, result.case] = result
            if not result.as_expected:
                verdicts.unclean.append(f"{result.stack}: {result.case}: {result.outcome} {result.reason}")
        if verdicts.unclean:
            break
        able = {pair for pair, result in base_outcomes.items() if result.outcome == "pass"}
        trials = {(mutant.name, case) for mutant, case in pairs if (mutant.base, case) in able}
        verdicts.tried |= {function_of(case) for _, case in trials}
        specs = {mutant.name: mutant.spec for mutant in mutants}
        for result in _run(root, trials, specs, workers):
            if result.outcome == "fail":
                verdicts.killed_by.setdefault(result.stack, []).append(result.case)
    return verdicts


def _concerns(mutant: MutantStack, case: str, proved: Mapping[str, Collection[str]], rest_of_area: bool) -> bool:
    if rest_of_area:
        return case.startswith(f"{mutant.area}/")
    return function_of(case) in proved.get(mutant.breaks, ())


def _run(root: Path, pairs: Collection[Pair], specs: Mapping[str, str], workers: str) -> list[CaseResult]:
    """The results of these cases on these stacks."""
    if not pairs:
        return []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plan.json").write_text(json.dumps(sorted(pairs)), encoding="utf-8")
        files = sorted({root / case.partition("::")[0] for _, case in pairs})
        stacks = [f"--stack={specs[name]}" for name in sorted({name for name, _ in pairs})]
        os.environ[FOLDER] = folder
        try:
            quiet = ["-p", "conformance.mutants.trial_plugin", "--device=cpu", "-q", "-q", "--no-summary", "--tb=no"]
            with contextlib.redirect_stdout(sys.stderr):
                run_cases(files[0], [*map(str, files[1:]), *stacks, *quiet, "-n", workers, f"--results={folder}"])
        finally:
            del os.environ[FOLDER]
        return Results.read(Path(folder) / "results.json").results


def without_mutant(areas: Iterable[str]) -> list[str]:
    """Clauses of MUST level that no mutant breaks."""
    broken = {mutant.breaks for mutant in all_mutants().values()}
    areas = set(areas)
    return [
        clause.id
        for clause in clauses().values()
        if clause.level == "MUST" and clause.id not in broken and (not areas or clause.area in areas)
    ]
