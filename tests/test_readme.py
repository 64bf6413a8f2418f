"""README's programs and outputs are real: they are run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conformance.run.check import check_file
from conformance.stacks import resolve

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CASE = "aot_autograd/test_input_mutation.py::test_write_through_expanded_view"
STACK = "tests.wrong_backends:drops_writes"


def block_after(heading: str, language: str) -> str:
    """The first fenced block of a language after a line of README."""
    found = re.search(rf"^```{language}\n(.*?)^```$", README.partition(heading)[2], re.S | re.M)
    assert found is not None, f"README has no block after {heading!r}"
    return found[1]


def failure(folder: Path) -> str:
    """What a run in ``folder`` prints of `CASE` on a backend that drops writes to its inputs."""
    options = ["--stack", STACK, "--device", "cpu", "--case", CASE, "--results", "results"]
    command = [sys.executable, "-m", "pytest", "-p", "conformance.plugin", "--import-mode=importlib", "-n", "0"]
    done = subprocess.run(
        [*command, str(ROOT / "cases" / CASE.partition("::")[0]), *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = re.search(r"^\[[0-9a-f]{8}\] .*\n(  .*\n)+", done.stdout, re.M)
    assert printed, done.stdout + done.stderr
    return printed[0]


def test_the_program_to_check_is_whole(tmp_path: Path) -> None:
    """The program that README checks can be copied into a file as it stands."""
    file = tmp_path / "program.py"
    file.write_text(block_after("One program of your own needs no case", "python"), encoding="utf-8")

    assert check_file(str(file), resolve("aot_eager"), "cpu")["conforms"]


def test_the_failure_is_what_a_run_prints(tmp_path: Path) -> None:
    """The failure that README explains is one that the suite prints, word for word."""
    assert block_after("## Reading a failure", "") == failure(tmp_path)
