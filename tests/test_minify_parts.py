"""The parts of the minifier's harness that need no child: faults, scripts, and the compiler that remembers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx

from conformance.minify import compiler
from conformance.minify.faults import (
    Fault,
    FaultyBackend,
    InjectedCompileError,
    InjectedRuntimeError,
    UnknownFault,
    dumps,
    install,
)
from conformance.minify.scripts import Script, module_source, operations
from conformance.program.sources import ScriptError


def sine_of_relu(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x).sin()


def sine(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


def row(device: str) -> list[tuple[torch.Tensor, ...]]:
    return [(torch.arange(3.0, device=device),)]


class Module(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


def compiled(fault: str, program: Any) -> Any:
    backend = FaultyBackend.around("eager", Fault.of(fault))
    return backend(fx.symbolic_trace(program), [torch.arange(3.0)])


def test_faults_that_do_not_show_in_results() -> None:
    """A lost write leaves the result and the input, a wrong gradient the values, and some faults need more than one."""
    x = torch.arange(3.0, requires_grad=True)
    compiled("relu.wrong_gradient", Module())(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 2.0, 2.0]

    written = torch.zeros(3)
    assert compiled("add_.lost_write", lambda y: y.add_(1))(written).tolist() == [1.0, 1.0, 1.0]
    assert written.tolist() == [0.0, 0.0, 0.0]

    with pytest.raises(InjectedCompileError, match="a graph without cos does not compile"):
        compiled("cos.missing_error", Module())
    with pytest.raises(InjectedCompileError, match="every does not compile"):
        compiled("every.compile_error", torch.nn.Identity())
    separate = compiled("relu.overlap_runtime_error", lambda y, z: y.relu() + z)
    assert separate(torch.zeros(1), torch.ones(1)).tolist() == [1.0]
    with pytest.raises(InjectedRuntimeError, match="inputs in one storage"):
        separate(written, written)


@pytest.mark.parametrize("text", ["relu", "relu.", ".accuracy", "relu.wrong"])
def test_an_unknown_fault_says_what_there_is(text: str) -> None:
    """A misspelt fault is a mistake of the case, in one line."""
    with pytest.raises(UnknownFault, match=r"write operator\.kind, kind one of compile_error, runtime_error, accuracy"):
        Fault.of(text)


def test_inductor_can_inject_only_what_it_has() -> None:
    """A fault that inductor cannot inject on a device is refused, not left out."""
    assert Fault.of("relu.accuracy").injected("cuda") == {"inductor.triton.inject_relu_bug_TESTING_ONLY": "accuracy"}
    with pytest.raises(UnknownFault, match=r"cannot inject log1p\.compile_error into triton"):
        Fault.of("log1p.compile_error").injected("cuda")


def test_what_inductor_cannot_inject_is_patched() -> None:
    """A wrong log1p exists in generated C++ by configuration, in generated Triton by a patch."""
    fault = Fault.of("log1p.accuracy")
    assert fault.injected("cpu") == {"inductor.cpp.inject_log1p_bug_TESTING_ONLY": "accuracy"}
    assert (fault.patches("cpu"), fault.injected("cuda")) == ([], {})
    assert fault.patches("cuda") == ["conformance.minify.faults:wrong_log1p_in_triton"]


class Patched:
    """Stands for a module that a patch changes."""

    times = 0

    @classmethod
    def once_more(cls) -> None:
        cls.times += 1


def test_patches_are_found_by_their_names() -> None:
    """A child calls each function that the order of the run names, attributes of attributes included."""
    before = Patched.times
    install(dumps([], [f"{__name__}:Patched.once_more"] * 2))
    assert Patched.times == before + 2


@pytest.mark.parametrize("program", [sine_of_relu, Module()], ids=["function", "method"])
def test_faults_hit_the_operator(program: Any) -> None:
    """Each fault shows on a graph with the operator, whether it is called as a function or as a method."""
    x = torch.tensor([-1.0, 2.0])
    with pytest.raises(InjectedCompileError, match="relu does not compile"):
        compiled("relu.compile_error", program)
    with pytest.raises(InjectedRuntimeError, match="relu does not run"):
        compiled("relu.runtime_error", program)(x)
    assert not torch.equal(compiled("relu.accuracy", program)(x), program(x))


@pytest.mark.parametrize("kind", ["compile_error", "runtime_error", "accuracy", "segfault", "abort", "hang"])
def test_faults_leave_everything_else_alone(kind: str) -> None:
    """A graph without the operator reaches the stack's own backend, also where an input bears its name."""
    x = torch.tensor([-1.0, 2.0])
    assert torch.equal(compiled(f"relu.{kind}", sine)(x), x.sin())
    graph = fx.Graph()
    graph.output(graph.call_function(torch.sin, (graph.placeholder("relu"),)))
    backend = FaultyBackend.around("eager", Fault.of(f"relu.{kind}"))
    assert torch.equal(backend(fx.GraphModule({}, graph), [x])(x), x.sin())


def test_a_script_can_be_run_by_a_person(tmp_path: Path) -> None:
    """Configuration, program, inputs, calls; nothing of this library."""
    text = Script(sine, row, "cpu", "eager", config={"inductor.freezing": True}).text(tmp_path)
    assert "torch._inductor.config.freezing = True" in text
    assert "torch._dynamo.config.repro_level = 2" in text
    assert "def sine(x: torch.Tensor)" in text
    assert "conformance" not in text.replace(str(tmp_path), "")
    exec(compile(text.replace("torch._dynamo.config.repro_after = 'dynamo'", ""), "script", "exec"), {})
    torch._inductor.config.freezing = False
    torch._dynamo.config.debug_dir_root = os.path.join(os.getcwd(), "torch_compile_debug")


def test_a_script_needs_source() -> None:
    """A lambda, or an unknown step, is refused in one line."""
    with pytest.raises(ScriptError, match="not a function or class of its module's top level"):
        Script(lambda x: x, row, "cpu", "eager").text(Path("debug"))
    with pytest.raises(ScriptError, match="after='lowering' is not one of dynamo, aot, aot_inductor"):
        Script(sine, row, "cpu", "eager", after="lowering").text(Path("debug"))
    with pytest.raises(ScriptError, match="only a module class can be exported"):
        Script(sine, row, "cpu", "inductor", after="aot_inductor").text(Path("debug"))


def test_operators_of_a_generated_module_are_counted() -> None:
    """Also of one that the script holds as a comment; aliases and deletions are no operators."""
    script = """\
from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, x, y):
        x_1 = x
        const = self.const
        a = torch.add(x_1, y);  x_1 = y = None
        return (a,)

mod = Repro()
"""
    commented = "\n".join(f"# {line}" if line else "" for line in script.splitlines())
    assert operations(script) == operations(commented) == 1
    assert module_source(script) == module_source(commented).replace("mod = Repro()", "").rstrip()
    assert operations("print(1)") == 0


def test_the_compiler_remembers_what_it_built(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same sources and flags are built once, comments and places apart; an error is told of the file at hand."""
    real, log = tmp_path / "real" / "g++", tmp_path / "log"
    real.parent.mkdir()
    real.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\ncase "$*" in *bad*) echo "$1: no" >&2; exit 1;; esac\necho built > "$4"\n'
    )
    real.chmod(0o700)
    place = tmp_path / "server"
    place.mkdir()
    found = compiler.install(place, {"PATH": f"{real.parent}:/usr/bin:/bin"})

    def build(source: str, text: str, target: str, step: str = "-c") -> int:
        (tmp_path / source).write_text(text)
        order = ["g++", str(tmp_path / source), step, "-o", str(tmp_path / target)]
        return subprocess.run(order, env=found).returncode

    assert build("a.cpp", "// one\nint x;\n", "a.o") == build("b.cpp", "\n// two\nint x;\n", "b.o") == 0
    assert (tmp_path / "b.o").read_text() == "built\n"
    assert len(log.read_text().splitlines()) == 1
    assert build("c.cpp", "int y;\n", "c.o") == 0
    assert build("bad.cpp", "int\n", "d.o") == build("bad_as_well.cpp", "int\n", "d.o") == 1
    assert capfd.readouterr().err == f"{tmp_path / 'bad.cpp'}: no\n{tmp_path / 'bad_as_well.cpp'}: no\n"
    assert len(log.read_text().splitlines()) == 3
    assert build("e.hpp", "int z;\n", "e.i", "-E") == build("f.hpp", "int z;\n", "f.i", "-E") == 0
    assert build("g.o", "object", "g.so", "-shared") == build("h.o", "object", "h.so", "-shared") == 0
    assert (tmp_path / "h.so").read_text() == "built\n"
    assert len(log.read_text().splitlines()) == 5
    assert build("h.o", "another object", "h.so", "-shared") == 0
    assert len(log.read_text().splitlines()) == 6


def test_a_chosen_compiler_is_left_alone(tmp_path: Path) -> None:
    """Where CXX is set, or there is no compiler, nothing is put before it."""
    assert compiler.install(tmp_path, {"PATH": os.environ["PATH"], "CXX": "clang++"}) == {}
    assert compiler.install(tmp_path, {"PATH": str(tmp_path)}) == {}


def test_a_deep_temporary_folder_leaves_room_for_the_socket(tmp_path, monkeypatch):
    """The address of a socket is short, so the server's folder is elsewhere where the temporary one lies too deep."""
    from conformance.forks.client import LONGEST_ADDRESS, root_folder

    deep = tmp_path / ("a" * 60) / ("b" * 60)
    deep.mkdir(parents=True)
    for folder in (tmp_path, deep):
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        root = root_folder()
        assert len(str(root / "socket")) <= LONGEST_ADDRESS
        root.rmdir()
