"""Checks run a stack in a process of its own: whatever it does to the process is a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.run.in_child import ChildError, Ended, call_in_child

PROGRAM = """\
import torch

def program(x):
    return x * 2

def calls(device):
    return [(torch.ones(3, device=device),)]
"""


def check(tmp_path: Path, backend: str, *options: str) -> subprocess.CompletedProcess[str]:
    """`conformance check --json` of a small program on one of the backends that are wrong on purpose."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        "from conformance.cli import main; main()",
        "check",
        str(file),
        "--json",
        "--stack",
    ]
    command += [f"tests.wrong_backends:{backend}", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("backend", "options", "told"),
    [
        ("crashes", (), "killed by SIGSEGV in wrong_backends.py:"),
        ("exits", (), "ended by exit status 7"),
        ("hangs", ("--timeout", "45"), "hung: no result within 45 s in wrong_backends.py:"),
    ],
)
def test_what_ends_the_process_is_a_discrepancy(
    tmp_path: Path, backend: str, options: tuple[str, ...], told: str
) -> None:
    """A crash, an exit and a hang are told with the backend's last frame; what it prints does not spoil the JSON."""
    done = check(tmp_path, backend, *options)

    assert done.returncode == 1, done.stderr
    record = json.loads(done.stdout)
    [found] = record["discrepancies"]
    assert (found["observable"], found["expected"]) == ("crash", "returns")
    assert found["actual"].startswith(told)
    assert record["eager_raises"] is None


def test_a_refusal_is_one_line_and_a_value_comes_back() -> None:
    """What a function of the child refuses is an error here, and what it returns is its value."""
    assert call_in_child("json:loads", {"s": "[1]"}, 60) == [1]
    with pytest.raises(ChildError, match="Expecting value"):
        call_in_child("json:loads", {"s": "x"}, 60)


def test_an_error_of_another_kind_ends_the_child() -> None:
    """A fault of the function itself is no value."""
    assert call_in_child("os:strerror", {}, 60) == Ended("ended by exit status 1")
