"""The scripts of the ledgers: small, of torch alone, and their exit status says whether the fault shows."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from conformance.report.state.measured import CPU, FAILS, NOT_RUN, measured
from conformance.results import ledger
from conformance.results.ledger import Entry, Signature

ROOT = Path(__file__).parents[1]
FOLDER = "known_failures/scripts/"
SCRIPTS = sorted((ROOT / FOLDER).glob("*.py"))
each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


@functools.cache
def entries_by_script() -> dict[str, list[Entry | Signature]]:
    """The entries of all ledgers whose bug has a script, by that script."""
    found: dict[str, list[Entry | Signature]] = {}
    for one in ledger.load_folder(ROOT / "known_failures").values():
        for entry in (*one.entries, *one.signatures):
            if entry.bug.script is not None:
                found.setdefault(entry.bug.script, []).append(entry)
    return found


def listed(script: Path, torch_version: str) -> bool:
    """Whether a ledger says that the script's fault shows on the CPU."""
    return any(
        entry.device in ("*", "cpu") and ledger.in_range(entry.torch, torch_version)
        for entry in entries_by_script()[FOLDER + script.name]
    )


def test_the_bugs_name_each_script_and_nothing_else() -> None:
    """A script without a bug is out of date, and a bug without its script shows nothing."""
    assert set(entries_by_script()) == {FOLDER + script.name for script in SCRIPTS}


@each_script
def test_a_script_needs_torch_alone(script: Path) -> None:
    """Whoever reads the report can run it."""
    modules = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or ".").partition(".")[0])

    assert modules <= {"torch", *sys.stdlib_module_names}


@each_script
def test_a_script_says_what_is_expected_and_seen(script: Path) -> None:
    """The docstring is the summary of a report."""
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""

    assert "Expected: " in docstring
    assert "Seen" in docstring.partition("Expected: ")[2]


@each_script
def test_a_script_leaves_with_a_status(script: Path) -> None:
    """The last statement is `raise SystemExit(whether the fault shows)`."""
    last = ast.parse(script.read_text(encoding="utf-8")).body[-1]

    assert isinstance(last, ast.Raise)
    assert isinstance(last.exc, ast.Call)
    assert ast.unparse(last.exc.func) == "SystemExit"
    assert isinstance(last.exc.args[0], (ast.Compare, ast.UnaryOp))


@each_script
def test_a_script_asks_for_the_gpu_that_it_needs(script: Path) -> None:
    """Without one it ends with 2: neither with the fault nor without."""
    text = script.read_text(encoding="utf-8")
    needs_gpu = not any(entry.device in ("*", "cpu") for entry in entries_by_script()[FOLDER + script.name])

    asks = 'if not torch.cuda.is_available():\n    print("needs a CUDA device")\n    raise SystemExit(2)\n'
    assert (asks in text) is needs_gpu


def test_the_status_is_what_the_ledger_says() -> None:
    """Shown by a script that compiles nothing, whose fault is not in every release."""
    script = ROOT / FOLDER / "key_error_text.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)

    assert "expected: 'caught' seen: " in done.stdout, done.stderr
    assert done.returncode == listed(script, torch.__version__)


def test_what_was_measured_is_what_the_ledgers_say() -> None:
    """On a CPU a script fails on the releases that the ledgers list its bug for, and on no other.

    What a row of the area operators is in another release is not known, so that ledgers list these for few releases.
    """
    wrong = []
    for name, outcomes in measured(ROOT / "known_failures").items():
        entries = entries_by_script()[FOLDER + name]
        of_operators = all(isinstance(one, Entry) and one.case.startswith("operators/") for one in entries)
        for one in outcomes:
            if one.machine == CPU and one.verdict != NOT_RUN:
                fails, said = one.verdict == FAILS, listed(ROOT / FOLDER / name, one.torch)
                if fails != said and not (fails and of_operators):
                    wrong.append(f"{name} on {one.torch}: {one.verdict}, listed: {said}")

    assert wrong == []
