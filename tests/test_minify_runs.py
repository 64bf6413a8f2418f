"""Runs of the minifier's cases: alike however often and by however many workers, with nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CASES = ("cases/minifier/test_crash.py", "cases/minifier/test_after_dynamo.py")
CHOSEN = "test_hang or test_segmentation_fault or test_non_leaf or (test_faulty_operator_is_found and (run or compile))"


def outcomes(temporary: Path, *arguments: str) -> dict[str, str]:
    """What a run of a few cases, with a temporary folder of its own, says of each."""
    temporary.mkdir()
    results = temporary.parent / f"{temporary.name}-results"
    command = [sys.executable, "-m", "pytest", *CASES, "-k", CHOSEN, "--stack=aot_eager", "--device=cpu", "-q"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", f"--results={results}", f"--basetemp={results}-pytest", *arguments],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    found = json.loads((results / "results.json").read_text(encoding="utf-8"))["results"]
    return {result["case"]: result["outcome"] for result in found}


def processes_with(temporary: Path) -> list[str]:
    """The command lines of processes that were started with this temporary folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(temporary).encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")
def test_two_runs_agree_and_leave_nothing(tmp_path: Path) -> None:
    """Crashes, hangs and minified programs come out alike with two workers and with none; nothing remains."""
    first = outcomes(tmp_path / "workers", "-n2")
    second = outcomes(tmp_path / "alone", "-n0")
    assert first == second
    assert sorted(first.values()) == ["inherited", *["pass"] * 4]
    assert [path for folder in ("workers", "alone") for path in (tmp_path / folder).iterdir()] == []
    assert processes_with(tmp_path) == []
