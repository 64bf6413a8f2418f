"""The plugin: how each outcome arises, and what a run leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conformance.report import html_report, markdown_summary
from conformance.results.result_file import Results

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ("-p", "conformance.plugin", "-p", "no:randomly", "-p", "no:cacheprovider", "--import-mode=importlib", "-q")
CASES = '''
import os
import time

import torch

from conformance import clause, needs, tensors


def double(x):
    return x * 2


def unlike(x):
    return x * (3 if torch.compiler.is_compiling() else 2)


@clause("aot_autograd.mutation.writeback")
def test_passes(stack, device):
    """It passes."""
    stack.run(double, tensors((3,), device=device)).assert_matches_eager()


@clause("aot_autograd.mutation.writeback")
def test_differs(stack, device):
    """It differs."""
    stack.run(unlike, tensors((3,), device=device)).assert_matches_eager()


@needs("lowered_graph")
@clause("aot_autograd.mutation.writeback")
def test_needs_more(stack, device):
    """It needs what the stack does not declare."""


def test_holds_python(stack, device):
    """It hangs in code that lets no other thread run."""
    import ctypes

    ctypes.PyDLL(None).sleep(10_000)


def test_loses_the_gpu(stack, device):
    """What a failed assertion of a kernel does to a process."""
    from conformance.program import devices

    devices.is_lost = lambda name: True


def test_loses_the_gpu_in_eager(stack, device):
    """The same, before the stack ran."""
    from conformance.program import devices

    devices.is_lost = lambda name: True
    devices.LOST_BY_EAGER.append("take[0]")


def test_is_wrong_itself(stack, device):
    """A fault of the case."""
    raise KeyError("no such thing")


def test_kills_the_process(stack, device):
    """It takes the process down."""
    os.abort()


def test_sleeps(stack, device):
    """It takes a while."""
    time.sleep(60)
'''


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases" / "aot_autograd"
    folder.mkdir(parents=True)
    (folder / "test_some.py").write_text(CASES, encoding="utf-8")
    return tmp_path / "cases"


def run(cases: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", str(cases), *PLUGIN, "--device=cpu", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("EXPECTTEST_ACCEPT", None)
    return subprocess.run(
        command, cwd=cases.parent, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    read = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return {result["case"].split("::")[1]: result for result in read["results"]}


def found_so_far(folder: Path) -> dict[str, dict[str, Any]]:
    """The outcomes in a folder that a run may not have begun to write."""
    return outcomes(folder) if (folder / "results.json").is_file() else {}


def ledger(path: Path, case: str, observable: str, stack: str = "aot_eager") -> str:
    path.write_text(
        f"""stack = "{stack}"
[bugs.wrong]
title = "Wrong on purpose."
link = "https://example.org/1"
[[failure]]
bug = "wrong"
cases = ["aot_autograd/test_some.py::{case}"]
torch = ">=2.9"
phase = "call"
observables = ["{observable}"]
""",
        encoding="utf-8",
    )
    return f"--known-failures={path}"


def test_outcomes_of_cases_that_end(cases: Path, tmp_path: Path) -> None:
    """Pass, fail with its discrepancy and first divergence, not applicable, and a fault of the case."""
    done = run(
        cases,
        "--stack=aot_eager",
        f"--results={tmp_path / 'r'}",
        "-k",
        "not kills and not sleeps and not holds and not loses",
    )
    found = outcomes(tmp_path / "r")

    assert done.returncode == 1, done.stdout
    assert {name: result["outcome"] for name, result in found.items()} == {
        "test_passes": "pass",
        "test_differs": "fail",
        "test_needs_more": "not_applicable",
        "test_is_wrong_itself": "error",
    }
    assert found["test_differs"]["discrepancies"][0]["where"] == "outputs[0]"
    assert found["test_differs"]["first_divergence"] == "dynamo"
    assert "lowered_graph" in found["test_needs_more"]["reason"]
    assert "KeyError" in found["test_is_wrong_itself"]["reason"]
    assert (tmp_path / "r" / "report.html").is_file()
    assert (tmp_path / "r" / "summary.md").is_file()
    [script] = (tmp_path / "r" / "failures").iterdir()
    alone = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert alone.returncode == 1, alone.stdout + alone.stderr
    assert alone.stdout.startswith("outputs[0].value: eager")


def test_a_crash_is_one_case_and_the_run_goes_on(cases: Path, tmp_path: Path) -> None:
    """A case that aborts its process fails, and the other cases still run."""
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", "-n1", "-k", "kills or passes")
    found = outcomes(tmp_path / "r")

    assert done.returncode == 1
    assert found["test_kills_the_process"]["outcome"] == "fail"
    assert "the stack crashed the process: killed by SIGABRT" in found["test_kills_the_process"]["reason"]
    assert found["test_passes"]["outcome"] == "pass"


@pytest.mark.parametrize(("case", "seconds"), [("sleeps", 20), ("holds_python", 5)])
def test_a_hang_is_one_case_and_the_run_goes_on(cases: Path, tmp_path: Path, case: str, seconds: int) -> None:
    """A case that outlasts its time limit fails, whatever it holds, and the other cases still run."""
    limit = f"--timeout={seconds}"
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", "-n1", limit, "-k", f"{case} or passes")
    found = outcomes(tmp_path / "r")

    assert done.returncode == 1
    assert found[f"test_{case}"]["outcome"] == "fail"
    assert f"the stack hung: no result within {seconds} s" in found[f"test_{case}"]["reason"]
    assert found["test_passes"]["outcome"] == "pass"


def test_a_lost_gpu_is_one_case(cases: Path, tmp_path: Path) -> None:
    """Another process runs the cases that follow; what eager did to the GPU is no failure of the stack."""
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", "-n1", "-k", "loses or passes")
    found = outcomes(tmp_path / "r")

    assert done.returncode == 1
    assert found["test_loses_the_gpu"]["outcome"] == "fail"
    assert "the stack crashed the process: left the GPU unusable" in found["test_loses_the_gpu"]["reason"]
    assert found["test_loses_the_gpu_in_eager"]["outcome"] == "error"
    assert found["test_passes"]["outcome"] == "pass"


def test_known_failure(cases: Path, tmp_path: Path) -> None:
    """A failure that is exactly as listed is as expected."""
    listed = ledger(tmp_path / "own.toml", "test_differs", "outputs[0].value")
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", listed, "-k", "differs")

    assert done.returncode == 0, done.stdout
    assert outcomes(tmp_path / "r")["test_differs"]["outcome"] == "known_failure"


def test_failure_unlike_the_listed_one(cases: Path, tmp_path: Path) -> None:
    """A failure that is not as listed is a failure, and says how it differs from the entry."""
    listed = ledger(tmp_path / "own.toml", "test_differs", "outputs[0].stride")
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", listed, "-k", "differs")

    assert done.returncode == 1
    assert "outputs[0].stride" in outcomes(tmp_path / "r")["test_differs"]["reason"]


def test_unexpected_pass(cases: Path, tmp_path: Path) -> None:
    """A case that passes though it is listed fails the run, which says to remove the entry."""
    listed = ledger(tmp_path / "own.toml", "test_passes", "outputs[0].value")
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", listed, "-k", "passes")

    assert done.returncode == 1
    assert outcomes(tmp_path / "r")["test_passes"]["outcome"] == "unexpected_pass"
    assert "remove this entry" in done.stdout


def test_missing_case(cases: Path, tmp_path: Path) -> None:
    """A case that the manifest lists and that gave no result fails a full run."""
    (cases / "manifest.txt").write_text("aot_autograd/test_gone.py::test_gone\n", encoding="utf-8")
    (cases / "aot_autograd" / "test_some.py").write_text(CASES[: CASES.index("@needs")], encoding="utf-8")
    run(cases, "--stack=eager", f"--results={tmp_path / 'r'}")

    assert outcomes(tmp_path / "r")["test_gone"]["outcome"] == "missing"


def test_absent_device(cases: Path, tmp_path: Path) -> None:
    """Cases of an absent device are collected and reported with the reason."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "pytest", str(cases), *PLUGIN, "--device=cuda", "--stack=eager", "-k", "passes"]
    command.append(f"--results={tmp_path / 'r'}")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    [found] = outcomes(tmp_path / "r").values()
    assert found["outcome"] == "unavailable"
    assert found["reason"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--stack=nosuch"], "unknown stack 'nosuch'"),
        (["--area=nosuch"], "unknown area 'nosuch'"),
        (["--shard=3/2"], "--shard takes I/N"),
        (["--known-failures=nosuch.toml"], "nosuch.toml: no such file"),
        (["--resume=nosuch"], "--resume"),
    ],
    ids=["stack", "area", "shard", "ledger", "resume"],
)
def test_wrong_usage_is_one_line(cases: Path, arguments: list[str], told: str) -> None:
    """Wrong usage says what exists in one line and runs nothing."""
    done = run(cases, *arguments)
    lines = [line for line in done.stderr.splitlines() if line.strip()]

    assert done.returncode == 2
    assert len(lines) == 1, lines
    assert told in lines[0]


def test_ledger_with_an_unknown_case(cases: Path, tmp_path: Path) -> None:
    """An entry about a case that does not exist is wrong usage."""
    (cases / "manifest.txt").write_text("aot_autograd/test_some.py::test_passes\n", encoding="utf-8")
    done = run(cases, "--stack=eager", ledger(tmp_path / "own.toml", "test_nosuch", "outputs[0].value", "eager"))

    assert done.returncode == 2
    assert "test_nosuch" in done.stderr


def test_accepting_refuses_workers(cases: Path) -> None:
    """Accepting rewrites files and does not work with -n."""
    command = [sys.executable, "-m", "pytest", str(cases), *PLUGIN, "-n2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EXPECTTEST_ACCEPT": "1"}
    done = subprocess.run(command, cwd=cases.parent, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "leave -n out" in done.stderr


def test_interrupted_run_leaves_readable_results(cases: Path, tmp_path: Path) -> None:
    """Ctrl-C in the middle leaves a result file with what ran."""
    command = [sys.executable, "-m", "pytest", str(cases), *PLUGIN, "--device=cpu", "--stack=eager"]
    command += [f"--results={tmp_path / 'r'}", "-k", "passes or sleeps"]
    # Where these tests run in the background, a shell has made them ignore Ctrl-C, and a child would, too.
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not found_so_far(tmp_path / "r") and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    assert outcomes(tmp_path / "r")["test_passes"]["outcome"] == "pass"


def test_resume_keeps_what_passed(cases: Path, tmp_path: Path) -> None:
    """A resumed run does not run again what was as expected, and keeps its result."""
    run(cases, "--stack=eager", f"--results={tmp_path / 'r'}", "-k", "passes")
    done = run(
        cases, "--stack=eager", f"--results={tmp_path / 'r'}", f"--resume={tmp_path / 'r'}", "-k", "passes or needs"
    )

    assert "1 deselected" in done.stdout or "deselected" in done.stdout
    assert set(outcomes(tmp_path / "r")) == {"test_passes", "test_needs_more"}


def test_a_killed_run_says_so_and_can_be_gone_on_with(cases: Path, tmp_path: Path) -> None:
    """What a killed run leaves is incomplete, reports say so, and a resumed run has every case, in junit.xml too."""
    folder = tmp_path / "r"
    command = [sys.executable, "-m", "pytest", str(cases), *PLUGIN, "--device=cpu", "--stack=eager"]
    command += [f"--results={folder}", "-k", "passes or sleeps"]
    process = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 120
    while "test_passes" not in found_so_far(folder):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.kill()
    process.wait()
    left = Results.read(folder / "results.json")
    assert left.incomplete
    assert "incomplete" in markdown_summary([left])
    assert "incomplete" in html_report([left])

    again = (
        f"--results={folder}",
        f"--resume={folder}",
        f"--junitxml={tmp_path / 'junit.xml'}",
        "-k",
        "passes or needs",
    )
    assert run(cases, "--stack=eager", *again).returncode == 0
    assert not Results.read(folder / "results.json").incomplete
    junit = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert set(re.findall(r'name="test_(\w+)', junit)) == {"passes", "needs_more"}
    assert set(re.findall(r'classname="([^"]*)"', junit)) == {"cases.aot_autograd.test_some"}


def test_a_folder_without_results_is_resumed_from_the_start(cases: Path, tmp_path: Path) -> None:
    """Where an interrupted run had found nothing yet, all is run."""
    done = run(cases, "--stack=eager", f"--results={tmp_path / 'r'}", f"--resume={tmp_path}", "-k", "passes")

    assert done.returncode == 0
    assert set(outcomes(tmp_path / "r")) == {"test_passes"}


def test_shards_are_disjoint_and_complete(cases: Path, tmp_path: Path) -> None:
    """Two halves of a run have every case once."""
    found: list[str] = []
    for shard in ("1/2", "2/2"):
        folder = tmp_path / shard.replace("/", "of")
        run(cases, "--stack=eager", f"--results={folder}", f"--shard={shard}", "-k", "passes or needs or wrong")
        found += outcomes(folder)

    assert sorted(found) == ["test_is_wrong_itself", "test_needs_more", "test_passes"]


LOUD = '''
import logging
import warnings

import torch

from conformance import clause, tensors


def unlike(x):
    warnings.warn("a warning that torch gives", DeprecationWarning)
    logging.getLogger("torch._dynamo.convert_frame").warning("a log that torch writes")
    return x * (3 if torch.compiler.is_compiling() else 2)


@clause("aot_autograd.mutation.writeback")
def test_differs(stack, device):
    """It differs, and torch says much meanwhile."""
    warnings.warn("a warning that torch gives", DeprecationWarning)
    logging.getLogger("torch._dynamo.convert_frame").warning("a log that torch writes")
    stack.run(unlike, tensors((3,), device=device)).assert_matches_eager()


def test_is_wrong_itself(stack, device):
    """A fault of the case."""
    raise KeyError("no such thing")
'''


def test_the_terminal_says_each_failure_once(cases: Path, tmp_path: Path) -> None:
    """No second list, no warnings and logs of torch's: these stand with the case; the traceback of a fault is shown."""
    (cases / "aot_autograd" / "test_some.py").write_text(LOUD, encoding="utf-8")
    junit = ("-o", "junit_logging=all", f"--junitxml={tmp_path / 'junit.xml'}")
    done = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", "-n2", *junit)
    printed = done.stdout + done.stderr

    assert done.returncode == 1, printed
    assert "FAILED" not in printed
    assert "= FAILURES =" not in printed
    assert "that torch" not in printed
    assert len(re.findall(r"^[0-9a-f]{8}  fail .*test_some.py::test_differs$", printed, re.M)) == 1
    assert "It differs" not in printed
    assert 'raise KeyError("no such thing")' in printed
    assert "2 failed" in printed
    kept = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert "x DeprecationWarning: a warning that torch" in kept
    assert "a log that torch" in kept
    verbose = run(cases, "--stack=aot_eager", f"--results={tmp_path / 'r'}", "-vv", "-k", "differs")
    assert "= FAILURES =" in verbose.stdout
