"""The benchmark of the suite's own work: it sums by area and holds each area to the limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "own_work.py"

PLUGIN = """
import types
import pytest

def pytest_addoption(parser):
    parser.addoption("--stack")
    parser.addoption("--device")

@pytest.fixture
def stack():
    timings = {"build": 0.1, "compare": 0.2, "compiled": 4.0}
    return types.SimpleNamespace(run=lambda: types.SimpleNamespace(timings=timings))
"""


@pytest.mark.parametrize(("limit", "status"), [("0.15", 0), ("0.05", 1)])
def test_the_share_of_each_area_is_held_to_the_limit(tmp_path: Path, limit: str, status: int) -> None:
    """Own seconds over compiled seconds, and an exit status that a script can use."""
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "cases" / "layout").mkdir(parents=True)
    (tmp_path / "cases" / "layout" / "test_one.py").write_text("def test_one(stack): stack.run()\n")

    command = [sys.executable, str(BENCHMARK), "--limit", limit]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == status, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split() == ["layout", "1", "4.00", "0.10", "0.20", "7.5%"]


def test_no_case_is_wrong_usage(tmp_path: Path) -> None:
    """A benchmark that measured nothing must not be green."""
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "cases").mkdir()

    done = subprocess.run([sys.executable, str(BENCHMARK)], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "no case ran a program\n"
