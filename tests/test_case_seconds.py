"""Seconds of earlier runs: read, merged, and used to start the longest cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.results.case_seconds import longest_first, merge_seconds, read_seconds, spent, write_seconds
from conformance.results.result_file import CaseResult, ResultsError


def ran(case: str, seconds: float, outcome: str = "pass", device: str = "cpu") -> CaseResult:
    return CaseResult(case, [], "layout", "eager", device, outcome, seconds=seconds)


def test_seconds_are_kept_for_cases_that_exist(tmp_path: Path) -> None:
    """A later run overrides an earlier one, what did not run or failed says nothing, and cases that are gone leave."""
    known = {("a", "eager"): 1.0, ("b", "eager"): 2.0, ("gone", "eager"): 3.0}
    results = [ran("a", 5.0), ran("a", 7.04, device="cuda"), ran("b", 9.0, "fail"), ran("c", 4.0, "not_applicable")]
    write_seconds(tmp_path, merge_seconds(known, results, ["a", "b", "c"]))

    assert read_seconds(tmp_path) == {("a", "eager"): 7.0, ("b", "eager"): 2.0}
    assert read_seconds(tmp_path / "elsewhere") == {}


def test_a_file_that_is_not_seconds_is_named(tmp_path: Path) -> None:
    """A mistake in the file is one line with its number."""
    (tmp_path / "seconds.tsv").write_text("a\teager\t1.0\nb\teager\n", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"seconds\.tsv:2: not a case, a stack and seconds"):
        read_seconds(tmp_path)


def test_each_worker_starts_with_a_long_case() -> None:
    """In pieces as work stealing cuts them, each worker has its share of long ones, the longest a short one next."""
    ordered = longest_first([(float(number), number) for number in range(8)], 3)

    assert [ordered[:2], ordered[2:5], ordered[5:]] == [[5, 3], [6, 4, 1], [7, 0, 2]]
    assert longest_first([(0.0, "a"), (0.0, "b"), (1.0, "c")], 1) == ["c", "a", "b"]


def test_how_well_workers_were_used() -> None:
    """The end of a run tells its efficiency and its five slowest cases."""
    lines = spent([ran(name, float(seconds)) for seconds, name in enumerate("abcdef", 1)], 3, 10.0)

    assert lines[0] == "21 s of cases on 3 workers in 10 s: efficiency 0.70; the slowest:"
    assert [line.split()[2] for line in lines[1:]] == ["f", "e", "d", "c", "b"]
    assert spent([], 3, 10.0) == []
