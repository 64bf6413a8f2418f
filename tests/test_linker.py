"""How inductor's kernels are linked: without reading all of torch, for the stack's own runs only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch._inductor.cpp_builder import get_cpp_compiler
from torch._inductor.exc import InvalidCxxCompiler

from conformance.capture.recorder import Recorder
from conformance.contract.run_environment import SPEEDUPS
from conformance.stacks import resolve
from conformance.stacks.speedups import linker
from conformance.stacks.speedups.linker import choose_linker, faster_linker


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(SPEEDUPS, "1")
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


@pytest.fixture
def broken_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ld.broken"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(linker, "FASTER", (str(program),))


def asked() -> str:
    """The linker that the compiler would start."""
    answer = subprocess.run([get_cpp_compiler(), "-print-prog-name=ld"], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def test_compilers_link_with_it_inside_only(cache: Path, other_linker: Path) -> None:
    """The environment is as before afterwards."""
    choose_linker(lambda: None)
    before = asked()
    with faster_linker():
        assert Path(asked()).is_relative_to(cache)
    assert asked() == before


def test_one_that_does_not_work_is_not_chosen(cache: Path, other_linker: Path) -> None:
    """Whatever the reason that linking with it raises."""

    def refused() -> None:
        raise RuntimeError("cannot open libstdc++.so")

    choose_linker(refused)
    before = asked()
    with faster_linker():
        assert asked() == before


def test_folders_of_the_user_are_kept(cache: Path, other_linker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked into after the linker's."""
    monkeypatch.setenv("COMPILER_PATH", "mine")
    choose_linker(lambda: None)
    with faster_linker():
        assert os.environ["COMPILER_PATH"].endswith(os.pathsep + "mine")


def test_without_a_faster_one_it_is_the_compilers(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not read all of torch either."""
    monkeypatch.setattr(linker, "FASTER", ("no-such-linker",))
    choose_linker(lambda: None)
    with faster_linker():
        assert f"exec {shutil.which('ld')} -L{cache}" in Path(asked()).read_text(encoding="utf-8")


def test_where_nothing_can_be_made_nothing_changes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler may know no such options; it links as ever then."""
    monkeypatch.setattr(linker, "get_cpp_compiler", lambda: shutil.which("false"))
    choose_linker(lambda: None)
    before = dict(os.environ)
    with faster_linker():
        assert dict(os.environ) == before


def test_without_a_compiler_nothing_is_raised(cache: Path, other_linker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on a GPU needs none."""

    class NoCompiler(InvalidCxxCompiler):
        def __init__(self) -> None:
            """Its own takes nothing in torch 2.9, and a name later."""

    def none() -> str:
        raise NoCompiler

    monkeypatch.setattr(linker, "get_cpp_compiler", none)
    choose_linker(lambda: None)
    before = dict(os.environ)
    with faster_linker():
        assert dict(os.environ) == before


def compiled_sum() -> float:
    """What a kernel computes that has never been compiled before; whole numbers, so that it is exact."""
    stack, recorder, shift = resolve("inductor"), Recorder(), time.time_ns() % 1_000_000
    with stack.running({}, recorder):
        result = stack.compile(lambda x: x * 3 - shift, recorder)(torch.arange(7.0))
    return float(result.sum() + 7 * shift)


def test_kernels_are_linked_with_it(cache: Path, other_linker: Path) -> None:
    """It is chosen once for all workers, and their kernels go through it and compute what they should."""
    resolve("inductor").prepare(["cpu"])
    other_linker.unlink()
    assert compiled_sum() == 63
    assert other_linker.exists()


def test_kernels_are_linked_when_it_is_gone(cache: Path, other_linker: Path) -> None:
    """A linker that was chosen in an earlier run may be no longer there."""
    resolve("inductor").prepare(["cpu"])
    Path(linker.FASTER[-1]).unlink()
    assert compiled_sum() == 63


def needed(library: Path) -> set[str]:
    """What the loader is asked for along with a library."""
    listed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"NEEDED.*\[(.*)\]", listed))


def linked(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """One function that calls one of torch's, linked as the options say."""
    libraries = "-L" + str(Path(torch.__file__).parent / "lib")
    source = folder / "source.c"
    source.write_text("void Sleef_sinf8_u35(void); int main(void) { Sleef_sinf8_u35(); return 0; }", encoding="utf-8")
    command = [get_cpp_compiler(), "-fPIC", "-x", "c", source, "-x", "none", libraries, *options]
    return subprocess.run([*command, "-o", folder / "result"], capture_output=True, text=True, check=False)


def test_a_library_asks_for_torch_as_ever(cache: Path) -> None:
    """The names that it needs are found in torch's own library, which it names; a stand-in has none."""
    choose_linker(lambda: None)
    with faster_linker():
        assert linked(cache, "-shared", "-ltorch_cpu").returncode == 0
    assert "libtorch_cpu.so" in needed(cache / "result")
    assert "libtorch_python.so" not in needed(cache / "result")
    stand_in = next(cache.glob("linker/*/stand-ins/libtorch_cpu.so"))
    assert "libtorch_cpu.so" not in needed(stand_in)
    assert stand_in.stat().st_size < 100_000


def test_a_program_is_linked_with_torch_itself(cache: Path) -> None:
    """A program must be whole, so that a name which nothing has is an error there, and one of torch's is none."""
    choose_linker(lambda: None)
    with faster_linker():
        assert linked(cache, "-ltorch_cpu", "-Wl,--allow-shlib-undefined").stderr == ""
    assert "libtorch_cpu.so" in needed(cache / "result")


def test_what_has_nothing_to_do_with_torch_does_not_ask_for_it(cache: Path) -> None:
    """Other compilers link while a stack runs, too, and keep the result for processes that have no torch."""
    choose_linker(lambda: None)
    with faster_linker():
        assert linked(cache, "-shared").returncode == 0
    assert not any("torch" in library for library in needed(cache / "result"))


def test_kernels_are_linked_without_a_broken_one(cache: Path, broken_linker: None) -> None:
    """A linker that refuses costs one try, and no case: the compiler's own is next."""
    resolve("inductor").prepare(["cpu"])
    assert compiled_sum() == 63
    with faster_linker():
        assert f"exec {shutil.which('ld')} -L" in Path(asked()).read_text(encoding="utf-8")


@pytest.mark.parametrize(("asked", "environment"), [("1", {"TORCHINDUCTOR_VEC_ISA_OK": "1"}), ("0", {})])
def test_nothing_is_compiled_for_a_gpu_alone(
    asked: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no case runs on the CPU, only speed-ups take its word for the instructions that work."""
    monkeypatch.setenv(SPEEDUPS, asked)
    stack = replace(resolve("inductor"), backend="no_such_backend")

    assert stack.prepare(["cuda"]) == environment
