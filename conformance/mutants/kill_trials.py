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
from conformance.contract.registry import AREAS, clauses, nearest
from conformance.mutants import MutantStack, all_mutants
from conformance.mutants.trial_plugin import FOLDER, function_of
from conformance.results.result_file import CaseResult, Results
from conformance.suite.options import UsageError
from conformance.suite.pytest_run import case_ids, run_cases

Pair = tuple[str, str]
#: A mutant's name and a clause that it breaks.
Charge = tuple[str, str]


@dataclass
class Verdicts:
    """What became of every mutant: the cases that killed it for each clause that it breaks, as they ran."""

    mutants: Sequence[MutantStack]
    killed_by: dict[Charge, list[str]] = field(default_factory=dict)
    #: Cases, without parameters, that were held against at least one mutant.
    tried: set[str] = field(default_factory=set)
    #: What the unmutated bases show that is not as expected.
    unclean: list[str] = field(default_factory=list)

    def survives(self, mutant: MutantStack) -> list[str]:
        """The clauses of a mutant that no case killed it for."""
        return [clause for clause in mutant.breaks if (mutant.name, clause) not in self.killed_by]

    @property
    def survivors(self) -> list[MutantStack]:
        return [mutant for mutant in self.mutants if self.survives(mutant)]

    @property
    def idle(self) -> list[str]:
        """Cases that were tried and killed nothing."""
        kills = {function_of(case) for cases in self.killed_by.values() for case in cases}
        return sorted(self.tried - kills)

    def rates(self) -> dict[str, dict[str, int]]:
        """How many mutants are killed, of how many: those wrong for every program, and the others, which are real."""
        found: dict[str, dict[str, int]] = {}
        for kind, plain in (("real", False), ("plain", True)):
            those = [mutant for mutant in self.mutants if mutant.plain is plain]
            killed = sum(not self.survives(mutant) for mutant in those)
            found[kind] = {"killed": killed, "total": len(those)}
        return found

    def to_json(self) -> dict[str, Any]:
        """The kill matrix: ``killed_by`` is the first case that killed for the first clause, null for a survivor."""
        rows = [
            {
                "name": mutant.name,
                "breaks": list(mutant.breaks),
                "plain": mutant.plain,
                "killed": not (survives := self.survives(mutant)),
                "killed_by": None if survives else self.killed_by[mutant.name, mutant.breaks[0]][0],
                "survives": survives,
            }
            for mutant in self.mutants
        ]
        return {"mutants": rows, "killed": sum(row["killed"] for row in rows), "total": len(rows), **self.rates()}


def chosen(names: Iterable[str], areas: Iterable[str]) -> list[MutantStack]:
    """The mutants of these names and areas, all of them where none are named."""
    known = all_mutants()
    for name in names:
        if name not in known:
            raise UsageError(f"unknown mutant {name!r}; {nearest(name, known)}")
    found = [known[name] for name in names] or list(known.values())
    if areas := set(areas):
        found = [mutant for mutant in found if mutant.areas & areas]
    if not found:
        raise UsageError(f"no mutant breaks a clause of {', '.join(sorted(areas))}")
    return found


def try_all(mutants: Sequence[MutantStack], workers: str) -> Verdicts:
    """Hold each mutant against the cases of its clauses; where those miss it, against the rest of the clause's area."""
    root = catalog.cases_root()
    proved = catalog.cases_by_clause(root)
    ids = case_ids(root)
    verdicts = Verdicts(mutants)
    base_outcomes: dict[Pair, CaseResult] = {}
    for rest_of_area in (False, True):
        # Which clauses of which mutant a case may kill it for.
        charges: dict[Pair, list[str]] = {}
        for mutant in mutants:
            for clause in verdicts.survives(mutant):
                for case in ids:
                    if _concerns(clause, case, proved, rest_of_area):
                        charges.setdefault((mutant.name, case), []).append(clause)
        bases = {mutant.name: mutant.base for mutant in mutants}
        wanted: dict[Pair, list[str]] = {(bases[name], case): [] for name, case in charges}
        wanted = {pair: [] for pair in wanted if pair not in base_outcomes}
        for result in _run(root, wanted, {base: base for base, _ in wanted}, workers):
            base_outcomes[result.stack, result.case] = result
            if not result.as_expected:
                verdicts.unclean.append(f"{result.stack}: {result.case}: {result.outcome} {result.reason}")
        if verdicts.unclean:
            break
        able = {pair for pair, result in base_outcomes.items() if result.outcome == "pass"}
        trials = {pair: broken for pair, broken in charges.items() if (bases[pair[0]], pair[1]) in able}
        verdicts.tried |= {function_of(case) for _, case in trials}
        for result in _run(root, trials, {mutant.name: mutant.spec for mutant in mutants}, workers):
            if result.outcome == "fail":
                for clause in trials[result.stack, result.case]:
                    verdicts.killed_by.setdefault((result.stack, clause), []).append(result.case)
    return verdicts


def _concerns(clause: str, case: str, proved: Mapping[str, Collection[str]], rest_of_area: bool) -> bool:
    if rest_of_area:
        return case.startswith(f"{clauses()[clause].area}/")
    return function_of(case) in proved.get(clause, ())


def _run(root: Path, pairs: Mapping[Pair, list[str]], specs: Mapping[str, str], workers: str) -> list[CaseResult]:
    """The results of these cases on these stacks, each pair with the clauses that it may kill for."""
    if not pairs:
        return []
    with tempfile.TemporaryDirectory() as folder:
        plan = sorted((*pair, broken) for pair, broken in pairs.items())
        (Path(folder) / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        files = sorted({root / case.partition("::")[0] for _, case in pairs})
        stacks = [f"--stack={specs[name]}" for name in sorted({name for name, _ in pairs})]
        os.environ[FOLDER] = folder
        try:
            quiet = ["-p", "conformance.mutants.trial_plugin", "--device=cpu", "-q", "-q", "--no-summary", "--tb=no"]
            quiet += [f"--area={area}" for area in AREAS]  # those too that a quick run leaves out
            with contextlib.redirect_stdout(sys.stderr):
                run_cases(files[0], [*map(str, files[1:]), *stacks, *quiet, "-n", workers, f"--results={folder}"])
        finally:
            del os.environ[FOLDER]
        return Results.read(Path(folder) / "results.json").results


def without_mutant(areas: Iterable[str]) -> list[str]:
    """Clauses of MUST level that no mutant breaks."""
    broken = {clause for mutant in all_mutants().values() for clause in mutant.breaks}
    areas = set(areas)
    return [
        clause.id
        for clause in clauses().values()
        if clause.level == "MUST" and clause.id not in broken and (not areas or clause.area in areas)
    ]
