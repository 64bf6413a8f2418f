"""The linker of inductor's kernels: the machine's fastest, for the stack's own runs only."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from conformance.capture import Recorder
from conformance.stacks import linker, resolve
from conformance.stacks.linker import faster_linker


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def other_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A linker that says that it was called, before it does what the machine's own does."""
    program, called = tmp_path / "ld.other", tmp_path / "called"
    program.write_text(f'#!/bin/sh\ntouch {called}\nexec {shutil.which("ld")} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(linker, "FASTER", ("no-such-linker", str(program)))
    return called


def asked() -> str:
    """The linker that the compiler would start."""
    answer = subprocess.run(["g++", "-print-prog-name=ld"], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def test_compilers_link_with_it_inside_only(cache: Path, other_linker: Path) -> None:
    """The environment is as before afterwards."""
    before = asked()
    with faster_linker():
        assert Path(asked()).is_relative_to(cache)
    assert asked() == before


def test_folders_of_the_user_are_kept(cache: Path, other_linker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked into after the linker's."""
    monkeypatch.setenv("COMPILER_PATH", "mine")
    with faster_linker():
        assert os.environ["COMPILER_PATH"].endswith(os.pathsep + "mine")


def test_without_one_nothing_changes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has none links as ever."""
    monkeypatch.setattr(linker, "FASTER", ("no-such-linker",))
    before = asked()
    with faster_linker():
        assert asked() == before


def test_kernels_are_linked_with_it(cache: Path, other_linker: Path) -> None:
    """A kernel that has never been compiled goes through it, and computes what it should."""
    stack, recorder = resolve("inductor"), Recorder()
    x = torch.arange(7.0)
    with stack.session({}, recorder):
        result = stack.compile(lambda x: x * 3 - 1, recorder)(x)
    assert torch.equal(result, x * 3 - 1)
    assert other_linker.exists()
