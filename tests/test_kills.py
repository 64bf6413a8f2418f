"""The kill matrix is kept beside the manifest, and says what is tried first."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.mutants.kills import FILE, first_to_try, read_kills, write_kills
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
