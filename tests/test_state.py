"""The page of the state of stacks and of torch: the same text from the same files, whatever their order."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from conformance import cli
from conformance.contract.profiles import PROFILES
from conformance.report.state.faults import faults, shows, union
from conformance.results.bugs import Bug
from conformance.results.ledger import load_bugs, load_folder
from conformance.results.result_file import CaseResult

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests" / "state"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kept result files and ledgers, as the current folder, which is a checkout with cases of one area."""
    shutil.copytree(KEPT, tmp_path, dirs_exist_ok=True)
    (tmp_path / "cases" / "layout").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def state(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `conformance state` and return its status."""
    monkeypatch.setattr(sys, "argv", ["conformance", "state", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.mark.parametrize("files", [("openvino.json", "torch.json"), ("torch.json", "openvino.json")])
def test_the_page_is_the_kept_one(folder: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, str]) -> None:
    """Every figure is one of the kept files', and the order in which they are named does not show."""
    assert state(monkeypatch, *files, "-o", "state.md") == 0
    assert (folder / "state.md").read_text(encoding="utf-8") == (KEPT / "expected.md").read_text(encoding="utf-8")


def test_the_published_page_is_that_of_the_published_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever doubts a figure of `docs/state.md` finds it in `docs/results/` or in the ledgers."""
    monkeypatch.chdir(ROOT)
    files = sorted(map(str, Path("docs/results").glob("*.json.gz")))

    assert state(monkeypatch, *files, "-o", str(tmp_path / "state.md")) == 0
    assert (tmp_path / "state.md").read_text(encoding="utf-8") == Path("docs/state.md").read_text(encoding="utf-8")


def test_the_page_is_printed_where_no_file_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without ``-o`` it goes to standard output, whole."""
    assert state(monkeypatch, "openvino.json", "torch.json") == 0
    assert capsys.readouterr().out == (KEPT / "expected.md").read_text(encoding="utf-8")


def test_a_run_that_was_killed_has_its_profiles_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It made no claim: which package and command it was is not known, what it kept and broke is."""
    monkeypatch.chdir(ROOT)

    assert state(monkeypatch, str(KEPT / "torch.json")) == 0
    lines = capsys.readouterr().out.splitlines()
    row = re.escape("| inductor | ? | 2.9.1 | cpu | 2026-11-27 |") + r" partial \d+/\d+ \|" * len(PROFILES) + r" 0 \|"
    assert any(re.fullmatch(row, line) for line in lines)
    assert any(line.startswith("- inductor, ") and line.endswith(": the file has no command") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name RESULTS.json... for the page of stacks, --bugs DIR for those of bugs"),
        (("gone.json",), "gone.json: no such file"),
        (("known_failures/bugs.toml",), "known_failures/bugs.toml: not JSON"),
        (("openvino.json", "-o", "gone/state.md"), "gone/state.md"),
    ],
)
def test_wrong_input_is_one_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    says: str,
) -> None:
    """What cannot be read or written is named, with status 2."""
    assert state(monkeypatch, *arguments) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert says in told.err


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([">=2.9"], ">=2.9"),
        ([">=2.13,<2.14", ">=2.9"], ">=2.9"),
        ([">=2.9,<2.11", ">=2.11,<2.13"], ">=2.9,<2.13"),
        ([">=2.9,<2.11", ">=2.13"], ">=2.9,<2.11 or >=2.13"),
        ([">=2.10,<2.15", ">=2.9,<2.13"], ">=2.9,<2.15"),
    ],
)
def test_ranges_are_joined(ranges: list[str], expected: str) -> None:
    """Releases are compared as numbers, and what touches or overlaps is one range."""
    assert union(ranges) == expected


def test_a_fault_is_silent_by_what_is_written_down_else_by_what_is_listed() -> None:
    """A wrong observable makes a fault silent, an exception loud, and the minifier's are neither."""
    folder = KEPT / "known_failures"
    found = faults(load_bugs(folder), load_folder(folder).values(), [])

    assert {one.bug.id: one.kind for one in found} == {
        "guards-offset-in-shared-base": "silent",
        "stride-of-unsqueeze": "silent",
        "aot-lstm-saves-none": "loud",
        "minifier-edits-graph": "other",
    }


def test_the_faults_that_ship_are_on_the_page_once_each() -> None:
    """None is left out, and each lies in some release."""
    folder = Path(__file__).parents[1] / "known_failures"
    bugs = load_bugs(folder)
    found = faults(bugs, load_folder(folder).values(), [])

    assert sorted(one.bug.id for one in found) == sorted(bugs)
    assert all(one.releases and one.stacks for one in found)


def test_a_result_shows_the_bug_that_its_reason_names() -> None:
    """One bug's title may be the beginning of another's; a failure of the stack's own is not torch's."""
    bug = Bug("one", "views are copied", "unreported", "x.py")

    def result(outcome: str, reason: str) -> CaseResult:
        return CaseResult("layout/test_a.py::test_b", [], "layout", "inductor", "cpu", outcome, reason)

    assert shows(result("known_failure", "views are copied (unreported)"), bug)
    assert shows(result("inherited", "dynamo fails likewise: one, views are copied (unreported)"), bug)
    assert not shows(result("known_failure", "all views are copied (unreported)"), bug)
    assert not shows(result("inherited", "dynamo fails likewise in outputs[0].value"), bug)
    assert not shows(result("fail", "in call; besides, dynamo fails likewise: one, views are copied (unreported)"), bug)
