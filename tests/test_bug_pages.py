"""The pages of unreported bugs: made of kept files, with the scripts that ship and what these were seen to print."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

from conformance import cli
from conformance.report.state.bug_pages import INDEX, SHOWS
from conformance.report.state.faults import faults
from conformance.report.state.measured import FAILS, NOT_RUN, UNCLEAR, WORKS, Outcome, measured, releases
from conformance.results.bugs import KINDS, UNREPORTED, LedgerError
from conformance.results.ledger import load_bugs, load_folder

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "known_failures"
PAGES = ROOT / "docs" / "bugs"
#: The lines that a page's script may have beside its docstring.
MOST_LINES = 25


def bugs_of_pages() -> dict[str, Path]:
    """The unreported bugs that ship, with their scripts."""
    found = load_bugs(KEPT).values()
    return {bug.id: ROOT / str(bug.script) for bug in found if bug.link == UNREPORTED}


def test_the_pages_are_those_that_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each unreported bug has one, nothing else has, and none was edited by hand."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["conformance", "state", "--bugs", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        cli.main()

    assert caught.value.code == 0
    written, kept = ({file.name: file.read_text(encoding="utf-8") for file in at.iterdir()} for at in (tmp_path, PAGES))
    assert sorted(kept) == sorted([INDEX, *(f"{bug}.md" for bug in bugs_of_pages())])
    assert {name: text for name, text in written.items() if kept[name] != text} == {}


@pytest.mark.parametrize(("bug", "script"), bugs_of_pages().items())
def test_a_page_has_the_script_that_ships(bug: str, script: Path) -> None:
    """Whoever copies it runs what was measured, and it is short."""
    text = script.read_text(encoding="utf-8")
    assert f"```python\n{text.rstrip()}\n```" in (PAGES / f"{bug}.md").read_text(encoding="utf-8")

    docstring = ast.parse(text).body[0]
    lines = text.splitlines()[docstring.end_lineno :]
    assert sum(bool(line.strip()) for line in lines) < MOST_LINES


def test_a_fault_is_of_the_kind_that_its_script_tells() -> None:
    """Where the script expects an exception, eager raises one too, and no page says that eager has a result."""
    told = {}
    for fault in faults(load_bugs(KEPT), load_folder(KEPT).values(), []):
        if fault.bug.script and fault.kind in ("crash", "loud", "exception"):
            docstring = ast.get_docstring(ast.parse((ROOT / fault.bug.script).read_text(encoding="utf-8"))) or ""
            expects = re.search(r"Expected: \w+(Error|Exception|StopIteration)\.", docstring)
            crashes = re.search(r"Seen: -\d+\.", docstring)
            told[fault.bug.id] = fault.kind, "exception" if expects else "crash" if crashes else "loud"

    assert {bug: kinds for bug, kinds in told.items() if len({*kinds}) > 1} == {}
    assert {kind for kind, _ in told.values()} == {"loud", "exception"}


def test_each_kind_has_its_sentence() -> None:
    """A page says in words how its fault shows."""
    assert list(SHOWS) == list(KINDS)


@pytest.mark.parametrize(
    ("status", "error", "verdict"),
    [
        (1, "", FAILS),
        (0, "", WORKS),
        (2, "", NOT_RUN),
        (1, "ImportError: gone", UNCLEAR),
        (-11, "", UNCLEAR),
        (None, "TimeoutError: no end in time", UNCLEAR),
    ],
)
def test_only_a_script_that_says_so_fails(status: int | None, error: str, verdict: str) -> None:
    """Python exits with 1 for any exception, and one that ends the script early shows nothing."""
    assert Outcome("2.13.0", "CPU", "3.11.7", "Linux x86_64", status, "", error).verdict == verdict


def test_a_crash_is_told_by_its_signal() -> None:
    """A segmentation fault prints nothing."""
    assert Outcome("2.13.0", "CPU", "3.11.7", "Linux x86_64", -11, "").said == "ended by SIGSEGV"


@pytest.mark.parametrize(
    ("machines", "named"),
    [(["CPU", "CPU", "H200"], ["2.13.0"]), (["H200"], ["2.13.0 (H200)"])],
)
def test_releases_are_named_once(machines: list[str], named: list[str]) -> None:
    """A GPU is named where the CPU says something else."""
    outcomes = [Outcome("2.13.0", machine, "3.11.7", "Linux x86_64", 1, "") for machine in machines]
    assert releases(outcomes, FAILS) == named


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file; benchmarks/scripts_measured.py writes it"),
        ("[", "not JSON"),
        ('[{"torch": "2.13.0"}]', "not what benchmarks/scripts_measured.py writes"),
        ("one of another text", "changed since it was measured"),
    ],
)
def test_outcomes_that_are_not_of_these_scripts_are_refused(tmp_path: Path, text: str | None, says: str) -> None:
    """A page never shows what another text of a script printed."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "a.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
    if text == "one of another text":
        outcome = {"status": 1, "output": "", "sha256": "0"}
        run = {"torch": "2.13.0", "build": "2.13.0", "machine": "CPU", "python": "3.11.7", "platform": "Linux x86_64"}
        text = json.dumps([{**run, "outcomes": {"a.py": outcome}}])
    if text is not None:
        (tmp_path / "measured.json").write_text(text, encoding="utf-8")
    with pytest.raises(LedgerError, match=says):
        measured(tmp_path)


def test_every_script_was_measured() -> None:
    """Each page has the outcome of every release that any page has: a range is measured and not inferred."""
    found = measured(KEPT)
    every = {one.torch for outcomes in found.values() for one in outcomes}
    seen = {bug: {one.torch for one in found.get(script.name, [])} for bug, script in bugs_of_pages().items()}
    assert len(every) >= 7
    assert {bug: sorted(every - some) for bug, some in seen.items() if every - some} == {}
