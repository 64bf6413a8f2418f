"""Trials of mutants: which case kills which, run in parallel, the unmutated base first."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import conformance.mutants
from conformance.contract import catalog
from conformance.contract.catalog import function_of
from conformance.contract.registry import clauses, nearest
from conformance.mutants import MutantStack, all_mutants
from conformance.mutants.kills import Charge, Kills, first_to_try, read_kills
from conformance.mutants.trial_plugin import FOLDER
from conformance.results.case_seconds import read_seconds
from conformance.results.result_file import CaseResult, Results
from conformance.suite.options import UsageError
from conformance.suite.pytest_run import case_ids, run_cases

#: A stack's name and a case.
Pair = tuple[str, str]


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
    def killing(self) -> set[str]:
        """Cases, without parameters, that killed a mutant."""
        return {function_of(case) for cases in self.killed_by.values() for case in cases}

    @property
    def idle(self) -> list[str]:
        """Cases that were tried and killed nothing."""
        return sorted(self.tried - self.killing)

    def rates(self) -> dict[str, dict[str, int]]:
        """How many mutants are killed, of how many: those wrong for every program, and the others, which are real."""
        found: dict[str, dict[str, int]] = {}
        for kind, plain in (("real", False), ("plain", True)):
            those = [mutant for mutant in self.mutants if mutant.plain is plain]
            killed = sum(not self.survives(mutant) for mutant in those)
            found[kind] = {"killed": killed, "total": len(those)}
        return found

    def kept(self, known: Kills, *, exhaustive: bool) -> dict[Charge, set[str]]:
        """All kills that are known, and these; of these mutants these alone where every pair ran."""
        tried = {mutant.name for mutant in self.mutants} if exhaustive else ()
        found = {charge: set(cases) for charge, cases in known.items() if charge[0] not in tried}
        for charge, cases in self.killed_by.items():
            found.setdefault(charge, set()).update(cases)
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


def changed_since(commit: str) -> set[str]:
    """The names of the mutants whose modules differ from a commit of the checkout that the package lies in."""
    folder = Path(conformance.mutants.__file__).parent
    command = ["git", "-C", str(folder), "diff", "--name-only", "--relative", commit, "--", "."]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"no changes since {commit!r}: {(done.stderr.splitlines() or ['git failed'])[0]}")
    modules = {f"conformance.mutants.{one.removesuffix('.py').replace('/', '.')}" for one in done.stdout.splitlines()}
    return {name for name, mutant in all_mutants().items() if mutant.spec.partition(":")[0] in modules}


def try_all(mutants: Sequence[MutantStack], workers: str, *, exhaustive: bool = False) -> Verdicts:
    """Hold each mutant against what killed it before, then the cases of its clauses, then those of the clause's area.

    ``exhaustive``: against all cases of its clauses, whatever killed it before, for the whole matrix.
    """
    root = catalog.cases_root()
    proved = catalog.cases_by_clause(root)
    ids = case_ids(root)
    verdicts = Verdicts(mutants)
    bases = {mutant.name: mutant.base for mutant in mutants}
    kills = {} if exhaustive else read_kills(root)
    remembered = first_to_try(kills, bases, set(ids), read_seconds(root))
    outcomes: dict[Pair, CaseResult] = {}

    def of_clauses(mutant: str, clause: str, case: str) -> bool:
        """Whether a case belongs to a clause, and the mutant or the case has no kill yet."""
        function = function_of(case)
        return function in proved.get(clause, ()) and (
            (mutant, clause) not in verdicts.killed_by or function not in verdicts.killing
        )

    def of_area(mutant: str, clause: str, case: str) -> bool:
        return (mutant, clause) not in verdicts.killed_by and case.startswith(f"{clauses()[clause].area}/")

    for concerns in (lambda mutant, clause, case: case in remembered.get((mutant, clause), ()), of_clauses, of_area):
        # Which clauses of which mutant a case may kill it for.
        charges: dict[Pair, list[str]] = {}
        for mutant in mutants:
            for clause in mutant.breaks:
                for case in ids:
                    if concerns(mutant.name, clause, case):
                        charges.setdefault((mutant.name, case), []).append(clause)
        wanted = {(bases[name], case) for name, case in charges} - set(outcomes)
        specs = {**{base: base for base, _ in wanted}, **{mutant.name: mutant.spec for mutant in mutants}}
        found = _run(root, {**{pair: [] for pair in wanted}, **charges}, specs, workers, exhaustive)
        outcomes |= {(one.stack, one.case): one for one in found}
        for pair in wanted:
            base = outcomes.get(pair)
            if base is not None and not base.as_expected:
                verdicts.unclean.append(f"{base.stack}: {base.case}: {base.outcome} {base.reason}")
        if verdicts.unclean and not exhaustive:
            break
        for (name, case), broken in charges.items():
            base = outcomes.get((bases[name], case))
            if base is not None and base.outcome == "pass":
                verdicts.tried.add(function_of(case))
                if (name, case) in outcomes and outcomes[name, case].outcome == "fail":
                    for clause in broken:
                        verdicts.killed_by.setdefault((name, clause), []).append(case)
    return verdicts


def _run(
    root: Path, pairs: Mapping[Pair, list[str]], specs: Mapping[str, str], workers: str, exhaustive: bool
) -> list[CaseResult]:
    """The results of these cases on these stacks, each pair with the clauses that it may kill for."""
    if not pairs:
        return []
    with tempfile.TemporaryDirectory() as folder:
        trials = sorted((*pair, broken) for pair, broken in pairs.items())
        plan = json.dumps({"trials": trials, "exhaustive": exhaustive})
        (Path(folder) / "plan.json").write_text(plan, encoding="utf-8")
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
    broken = {clause for mutant in all_mutants().values() for clause in mutant.breaks}
    areas = set(areas)
    return [
        clause.id
        for clause in clauses().values()
        if clause.level == "MUST" and clause.id not in broken and (not areas or clause.area in areas)
    ]
