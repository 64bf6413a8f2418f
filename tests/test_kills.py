"""The kill matrix is kept beside the manifest, and says what is tried first."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract.catalog import MANIFEST, cases_by_clause, cases_root, full_only, function_of
from conformance.contract.registry import clauses
from conformance.contract.scopes import in_scope
from conformance.mutants.kills import FILE, first_to_try, read_kills, write_kills
from conformance.results.ledger import load_folder
from conformance.results.result_file import ResultsError

KILLS = {
    ("dropped", "a.writes"): ["a/x.py::test_f[one]", "a/x.py::test_f[two]", "a/y.py::test_g"],
    ("cloned", "a.views"): ["a/x.py::test_f[one]", "a/z.py::test_gone"],
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Each line is a mutant, a clause and a case; a file with another line is refused with its number."""
    assert read_kills(tmp_path) == {}
    write_kills(tmp_path, KILLS)
    assert read_kills(tmp_path) == KILLS

    (tmp_path / FILE).write_text("dropped\ta.writes\n", encoding="utf-8")
    with pytest.raises(ResultsError, match=rf"{FILE}:1: not a mutant, a clause and a case"):
        read_kills(tmp_path)


def test_the_quickest_killer_is_first_and_every_case_kills() -> None:
    """Of each mutant one killer, and one for each case that is not among these; cases that are gone are left out."""
    cases = {case for killers in KILLS.values() for case in killers} - {"a/z.py::test_gone"}
    seconds = {("a/x.py::test_f[one]", "aot_eager"): 2.0, ("a/x.py::test_f[two]", "aot_eager"): 0.5}
    bases = {"dropped": "aot_eager", "cloned": "aot_eager"}

    assert first_to_try(KILLS, bases, cases, seconds) == {
        ("dropped", "a.writes"): {"a/x.py::test_f[two]", "a/y.py::test_g"},
        ("cloned", "a.views"): {"a/x.py::test_f[one]"},
    }
    assert first_to_try(KILLS, {"cloned": "aot_eager"}, cases, seconds).keys() == {("cloned", "a.views")}


def test_what_quick_leaves_out_is_missed_by_nobody() -> None:
    """Without the rows of full.txt every kill has a case, every case function a row, and core is whole."""
    root = cases_root()
    listed = set((root / MANIFEST).read_text(encoding="utf-8").splitlines())
    left_out = full_only(root)
    quick = listed - left_out
    core = {
        case
        for name, cases in cases_by_clause(root).items()
        if in_scope("core", clauses()[name].rows)
        for case in cases
    }

    assert left_out < listed
    assert {function_of(case) for case in quick} == {function_of(case) for case in listed}
    assert not {function_of(case) for case in left_out} & core
    for charge, killers in read_kills(root).items():
        assert listed.isdisjoint(killers) or not quick.isdisjoint(killers), charge
    for stack, known in load_folder(root.parent / "known_failures").items():
        for bug in {entry.bug for entry in known.entries}:
            cases = {entry.case for entry in known.entries if entry.bug == bug} & listed
            assert not cases or cases & quick, (stack, bug.id)
