"""The benchmarks: the suite's own work by area, scripts of failures against their run, scripts of bugs by release."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from conformance.contract.failure import Discrepancy
from conformance.results.result_file import CaseResult, Results

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


def test_a_script_that_names_what_the_run_saw_is_shown(tmp_path: Path) -> None:
    """Exit status 1 with the run's observables counts; other names, a conforming script and a broken one are told."""
    texts = {
        "shown": "print('outputs[0].value: eager 1, stack 2'); raise SystemExit(1)",
        "other": "print('outputs[0].stride: eager 1, stack 2'); raise SystemExit(1)",
        "conforms": "",
        "broken": "import sys; print('no such stack'); sys.exit(2)",
    }
    found = []
    for name, text in texts.items():
        script = tmp_path / f"{name}.py"
        script.write_text(text)
        seen = [Discrepancy("value", "outputs[0]", "1", "2")]
        found.append(CaseResult(name, [], "layout", "own", "cpu", "fail", discrepancies=seen, script=str(script)))
    found.append(CaseResult("none", [], "layout", "own", "cpu", "fail"))
    Results(results=found).write(tmp_path / "results.json")

    command = [sys.executable, str(BENCHMARK.with_name("scripts_shown.py")), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    *told, counts, share = done.stdout.splitlines()
    assert counts == "5 failures: 1 shown, 1 other observables, 1 conforms, 1 broken, 1 no script"
    assert (share, done.returncode) == ("20.0% shown", 1)
    assert "no such stack" in told[2]


def test_seconds_of_a_run_are_compared_with_the_last_of_its_kind(tmp_path: Path) -> None:
    """One case on one stack: a table by area, the numbers of the run, and ratios once the history has such a run."""
    history = tmp_path / "history.tsv"
    case = "layout/test_frozen_convolution.py::test_layout_optimization_off_keeps_strides"
    options = ["--history", str(history), "--", "--case", case, "--stack", "eager", "--device", "cpu"]
    command = [sys.executable, str(BENCHMARK.with_name("seconds.py")), "-n", "1", "--record", *options]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(2))

    assert "the first of its kind" in first.stdout, first.stderr
    assert [line.split()[:3] for line in first.stdout.splitlines() if line.startswith("layout ")][-1:] == [
        ["layout", "eager", "1"]
    ]
    ratios = {line.split()[0]: line.split()[-2:] for line in second.stdout.splitlines() if line.endswith("times")}
    assert ratios["results"] == ["1.00", "times"]
    assert {"wall_s", "cpu_s", "cpu_s_a_result"} <= set(ratios)
    assert len(history.read_text(encoding="utf-8").splitlines()) == 3


def test_a_script_runs_alone_in_a_fork(tmp_path: Path) -> None:
    """Its status is that of a script that is run by itself, whether it ends, raises or crashes; none sees another."""
    texts = {
        "ends.py": "import torch\nshared = torch.shared = 1\nprint('seen: 2')\nraise SystemExit(shared)\n",
        "raises.py": "import torch\nprint(__name__, hasattr(torch, 'shared'))\nraise ValueError('wrong')\n",
        "crashes.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
        "passes.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)

    command = [sys.executable, str(BENCHMARK.with_name("forked_scripts.py"))]
    paths = "".join(f"{tmp_path / name}\n" for name in texts)
    done = subprocess.run(command, input=paths, capture_output=True, text=True, check=True)

    told, *lines = map(json.loads, done.stdout.splitlines())
    assert told["torch"] == torch.__version__.partition("+")[0]
    assert [(name, status, printed) for name, status, printed, _ in lines] == [
        ("ends.py", 1, "seen: 2\n"),
        ("raises.py", 1, "__main__ False\n"),
        ("crashes.py", -11, ""),
        ("passes.py", 0, ""),
    ]
    assert lines[1][3].endswith("\nValueError: wrong\n")


def test_outcomes_are_merged_by_release_and_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new outcome takes the place of the old one, and those of a script that changed or is gone are left out."""
    spec = importlib.util.spec_from_file_location("scripts_measured", BENCHMARK.with_name("scripts_measured.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SCRIPTS", tmp_path)
    (tmp_path / "a.py").write_text("raise SystemExit(1)\n")

    shown = module.told_by(tmp_path / "a.py", 1, "expected: 1 seen: 2\n", "Warning: slow\n")
    raised = module.told_by(tmp_path / "a.py", 1, "", "Traceback (most recent call last):\n  ...\nValueError: wrong\n")
    assert (shown["output"], shown.get("error"), raised["error"]) == ("expected: 1 seen: 2", None, "ValueError: wrong")

    on = [{"torch": release, "machine": "CPU", "python": "3.11.7"} for release in ("2.9.1", "2.13.0")]
    runs = module.merge([], on[1], {"a.py": raised, "gone.py": raised})
    runs = module.merge(runs, on[0], {"a.py": raised})
    runs = module.merge(runs, on[1], {"a.py": shown})
    assert runs == [{**on[0], "outcomes": {"a.py": raised}}, {**on[1], "outcomes": {"a.py": shown}}]

    (tmp_path / "a.py").write_text("raise SystemExit(0)\n")
    assert all(run["outcomes"] == {} for run in module.merge(runs, on[0], {}))
