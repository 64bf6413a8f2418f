"""What a program may ask of a run: an exporter, a cut, a context, and a limit that torch documents."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance import tensors
from conformance.probes import CutBefore, ExportedBy, Within
from conformance.program.programs import Program, ProgramError
from conformance.run.bound_stack import BoundStack
from conformance.run.run import Run
from conformance.run.texts import ConformanceFailure
from conformance.stacks import resolve
from conformance.standalone.script import Subject, script_of

TWO = tensors((2,), device="cpu", requires_grad=True)
ENTERED: list[str] = []


class OtherWhenExported(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (3 if torch.compiler.is_exporting() else 2)


class Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def sine_of_double(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).sin()


def write_and_double(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def raise_when_compiled(x: torch.Tensor) -> torch.Tensor:
    if torch.compiler.is_compiling():
        raise NotImplementedError("not while compiling")
    return x * 2


def sine(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


def differentiate_twice(arguments: tuple[torch.Tensor], output: torch.Tensor) -> Any:
    (gradient,) = torch.autograd.grad(output.sum(), arguments, create_graph=True)
    return torch.autograd.grad(gradient.sum(), arguments)


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    ENTERED.append("in")
    yield
    ENTERED.append("out")


def run(stack: str, program: Any, **options: Any) -> Run:
    return BoundStack(resolve(stack), "cpu").run(program, TWO, **options)


@pytest.mark.parametrize("exporter", ["torch.export.export", "torch._dynamo.export"])
def test_the_stack_is_handed_the_exported_graph(exporter: str) -> None:
    """Eager runs the module itself and the stack what the exporter made of it."""
    run("aot_eager", Double, probes=(ExportedBy(exporter),)).assert_matches_eager()


def test_an_export_that_computes_something_else_is_seen() -> None:
    """The exported graph is compared with the module, not with itself; without the export nothing differs."""
    found = run("aot_eager", OtherWhenExported, probes=(ExportedBy("torch.export.export"),))

    with pytest.raises(ConformanceFailure, match=r"outputs\[0\].value"):
        found.assert_matches_eager()
    assert found.first_divergence() == "dynamo"
    run("aot_eager", OtherWhenExported).assert_matches_eager()


def test_front_end_graphs_are_of_the_exported_program() -> None:
    """What is shown as the forward graph is what became of the exported graph."""
    assert (
        "aten.mul(in0, 3)"
        in run("aot_eager", OtherWhenExported, probes=(ExportedBy("torch.export.export"),)).forward.text
    )
    assert "aten.mul(in0, 2)" in run("aot_eager", OtherWhenExported).forward.text


def test_unknown_exporter() -> None:
    """An exporter that does not exist is told with those that do."""
    with pytest.raises(ProgramError, match=r"a program is exported by torch\.export\.export, .*, not 'onnx'"):
        ExportedBy("onnx")


def test_a_function_is_no_module_to_export() -> None:
    """torch.export takes modules: the message says so."""
    found = run("aot_eager", double, probes=(ExportedBy("torch.export.export"),))

    assert "torch.export exports a module, not function" in found.error.text


def test_a_cut_graph_is_compiled_as_two() -> None:
    """The backend is handed the pieces, and the whole does what eager does."""
    found = run("aot_eager", sine_of_double, probes=(CutBefore("sin"),))

    found.assert_matches_eager()
    found.assert_compiled(graphs=2)
    assert [graph.ops for graph in found.dynamo] == [["mul"], ["sin"]]


def test_cutting_does_not_write_to_the_caller() -> None:
    """Pieces run once on copies to see what they return: a write to the input happens once."""
    run("aot_eager", write_and_double, probes=(CutBefore("mul"),), inference=True).assert_matches_eager()


def test_an_operator_that_is_not_there_cuts_nothing() -> None:
    """A graph without the operator is one piece."""
    run("aot_eager", sine_of_double, probes=(CutBefore("cos"),)).assert_compiled(graphs=1)


def test_each_side_has_its_own_context() -> None:
    """What a program needs around it is entered and left for each side alone."""
    ENTERED.clear()
    found = run("aot_eager", double, probes=(Within(recorded),))
    assert ENTERED == ["in", "out"] * 2

    assert "aten.mul" in found.forward.text
    assert ENTERED == ["in", "out"] * 3


def test_a_limit_that_is_reached() -> None:
    """A stack that raises what torch documents passes, and the run tells that it raised."""
    found = run("aot_eager", sine, backward=False, after=differentiate_twice)
    found.limit.expect("""RuntimeError: torch.compile with aot_autograd does not currently support double backward""")
    found.assert_matches_eager(or_limit=True)

    assert found.saw.startswith("a documented limit: RuntimeError: torch.compile with aot_autograd")
    with pytest.raises(ConformanceFailure, match="exception"):
        found.assert_matches_eager()


def test_a_limit_that_is_not_there() -> None:
    """A stack that does what eager does passes as well, and the run tells the difference."""
    found = run("dynamo", sine, backward=False, after=differentiate_twice)
    found.limit.expect("""whatever""")
    found.assert_matches_eager(or_limit=True)

    assert found.saw == "what eager does, past a documented limit"


def test_another_error_is_not_the_limit() -> None:
    """A stack that raises something else fails with its message."""
    found = run("aot_eager", raise_when_compiled, fullgraph=True)

    with pytest.raises(AssertionError, match="is not as expected"):
        found.limit.expect("""RuntimeError: as documented""")


def test_a_limit_has_a_message() -> None:
    """What may be raised is said before it is allowed."""
    with pytest.raises(ValueError, match=r"or_limit needs run\.limit\.expect"):
        run("dynamo", double).assert_matches_eager(or_limit=True)


def subject(found: Run) -> Subject:
    """What a script of a run is written of."""
    return Subject(found.stack, found.program, found.calls, found.device, found.comparison.discrepancies)


def test_a_script_exports_and_enters(tmp_path: Path) -> None:
    """A stand-alone script exports what the case exported, inside the context that the case was in."""
    found = run("aot_eager", OtherWhenExported, probes=(ExportedBy("torch.export.export"), Within(recorded)))
    file = tmp_path / "alone.py"
    file.write_text(script_of(subject(found), title="exported"), encoding="utf-8")

    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "outputs.value" in done.stdout or "outputs[0].value" in done.stdout


def sum_of_one_and_write_to_the_other(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y.index_add_(0, torch.tensor([0, 0]), y[:2].clone())
    return x + 1


def two_with_gradients(device: str) -> list[tuple[torch.Tensor, ...]]:
    x, leaf = (torch.ones(4, device=device, requires_grad=True) for _ in range(2))
    return [(x, x * leaf)]


def test_a_script_sees_leaves_behind_the_arguments(tmp_path: Path) -> None:
    """A gradient of a leaf that no call passes is told too: torch gives one to the leaf of the written argument."""
    found = Run(resolve("aot_eager"), Program.of(sum_of_one_and_write_to_the_other), two_with_gradients, "cpu")
    assert [one.name for one in found.comparison.discrepancies] == ["leaves[0].grad"]
    file = tmp_path / "alone.py"
    file.write_text(script_of(subject(found), title="leaves"), encoding="utf-8")

    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "leaves[0].grad: eager None" in done.stdout


def test_a_script_cuts_graphs(tmp_path: Path) -> None:
    """What cuts a graph before it is compiled is written into the script."""
    found = run("aot_eager", sine_of_double, probes=(CutBefore("sin"),))
    file = tmp_path / "alone.py"
    file.write_text(script_of(subject(found), title="cut"), encoding="utf-8")

    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "conforms\n"), done.stderr
