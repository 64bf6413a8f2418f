"""Whose a discrepancy is: a rung of torch's ladder that does likewise, or the stack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance.contract.ladder import WITHOUT_DYNAMO, layers, rungs
from conformance.results.result_file import Results
from conformance.run.attribution import first_divergence, inherited, rungs_below
from conformance.run.bound_stack import BoundStack
from conformance.run.run import Run
from conformance.run.texts import ConformanceFailure
from conformance.stacks import resolve
from conformance.stacks.builtin import BUILTIN

ROOT = Path(__file__).resolve().parents[1]
#: What buffers that are kept and used again do to two calls.
OF_CACHED_BUFFERS = {"calls[0].outputs[0].value", "calls[1].outputs[0].identity", "outputs[0].lifetime"}
CASES = '''
import torch

from conformance import clause, tensors


def told_otherwise(x):
    return x * 2, 3 if torch.compiler.is_compiling() else 2


def two_calls(device):
    return [(torch.ones(3, device=device),), (torch.full((3,), 2.0, device=device),)]


@clause("aot_autograd.mutation.writeback")
def test_once(stack, device):
    """Torch answers for the number."""
    run = stack.run(told_otherwise, tensors((3,), device=device))
    run.assert_matches_eager()


@clause("aot_autograd.mutation.writeback")
def test_twice(stack, device):
    """Torch answers for the number, and the backend for what the second call returns."""
    run = stack.run(told_otherwise, two_calls)
    run.assert_matches_eager()


@clause("aot_autograd.mutation.writeback")
def test_traced(stack, device):
    """Nothing but a text that the suite traces."""
    stack.trace(torch.sin, tensors((3,), device=device), by="fake_mode").expect("""FakeTensor f32[3]""")
'''


def doubled(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    return x * 2, 3 if torch.compiler.is_compiling() else 2


def two_calls(device: str) -> list[tuple[torch.Tensor]]:
    return [(torch.ones(3, device=device),), (torch.full((3,), 2.0, device=device),)]


def overlapping_calls(device: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    buffer = torch.ones(4, device=device)
    return [(torch.ones(2, device=device), torch.ones(2, device=device)), (buffer[:2], buffer[1:3])]


def add_to_first(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return y * 2


def run_on(backend: str, program: Any, calls: Any = two_calls) -> Run:
    return BoundStack(resolve(f"backends.{backend}"), "cpu").run(program, calls)


def owners(run: Run) -> dict[str, str]:
    found = run.comparison.discrepancies
    shown = inherited(run, found)
    return {one.name: shown.get(one, "own") for one in found}


def test_layers() -> None:
    """A plain backend stands on Dynamo; one that uses AOTAutograd on every way of partitioning, too."""
    assert layers(False) == ("dynamo",)
    beside = ("aot_default_partition", "aot_core_decompositions")
    assert layers(True) == ("dynamo", "aot_eager", *beside, "aot_eager_decomp_partition")
    assert rungs("aot_default_partition") == ["dynamo", "aot_eager", "aot_default_partition"]


def test_a_stack_without_dynamo_stands_on_no_rung() -> None:
    """A report draws its failures without a ladder."""
    assert {stack.name for stack in BUILTIN if not stack.captured_by_dynamo} == set(WITHOUT_DYNAMO)
    assert all(resolve(name).ladder == () and rungs(name) == [name] for name in WITHOUT_DYNAMO)


def test_a_fault_diverges_first_where_its_own_place_differs() -> None:
    """Not on the rung that gets something else of the program wrong."""
    run = run_on("faulty:cached_buffers", doubled)
    found = {one.name: one for one in run.comparison.discrepancies}
    by_dynamo = [found["calls[1].outputs[1].value"]]
    own = [found["calls[0].outputs[0].value"]]
    assert [first_divergence(run, one) for one in (by_dynamo, own, [])] == ["dynamo", run.stack.name, "dynamo"]


def test_rungs_are_those_that_a_run_went_through() -> None:
    """Whether AOTAutograd compiled something inside a backend is seen in the run."""
    assert rungs_below(run_on("conforming:dynamo_graph", doubled)) == layers(False)
    assert rungs_below(run_on("conforming:aot_nothing", doubled)) == layers(True)
    assert rungs_below(BoundStack(resolve("eager"), "cpu").run(doubled, two_calls)) == ()


@pytest.mark.parametrize("backend", ["dynamo_graph", "aot_nothing"])
def test_what_dynamo_does_likewise_is_inherited(backend: str) -> None:
    """A backend is not blamed for what it was handed."""
    assert set(owners(run_on(f"conforming:{backend}", doubled)).values()) == {"dynamo"}


def test_a_fault_of_its_own_beside_one_of_torch() -> None:
    """Buffers that are used again are the backend's fault, though Dynamo fails in the same case."""
    found = owners(run_on("faulty:cached_buffers", doubled))

    assert {name for name, owner in found.items() if owner == "own"} == OF_CACHED_BUFFERS
    assert {owner for name, owner in found.items() if name not in OF_CACHED_BUFFERS} == {"dynamo"}


def test_torchs_own_stacks_inherit_by_ledger_only() -> None:
    """What is new on a stack of torch's is seen, whatever its rungs do."""
    run = BoundStack(resolve("aot_eager"), "cpu").run(doubled, two_calls)

    assert run.comparison.discrepancies
    assert inherited(run, run.comparison.discrepancies) == {}


def test_compiling_less_often_is_no_fault() -> None:
    """Another stack need not compile anew where inputs overlap; it may not compile more often, or nothing."""
    run = run_on("conforming:dynamo_graph", add_to_first, overlapping_calls)

    run.assert_compiled(graphs=2, recompiles=1)
    with pytest.raises(ConformanceFailure, match="graphs: expected 0, got 1"):
        run.assert_compiled(graphs=0)
    run.recorder.dynamo.clear()
    with pytest.raises(ConformanceFailure, match="graphs: expected 2, got 0"):
        run.assert_compiled(graphs=2, recompiles=1)


def test_texts_of_torch_say_nothing_of_another_stack() -> None:
    """Guards, recompile reasons and graphs are compared on torch's own stacks, and nothing is traced for others."""
    run = run_on("conforming:dynamo_graph", add_to_first, overlapping_calls)
    run.traces = False

    for text in (run.dynamo, run.guards, run.recompiles, run.graph_breaks, run.forward, run.joint.operators):
        text.expect("""what no release prints""")
    assert "_front_end" not in vars(run)


def test_a_run_tells_them_apart(tmp_path: Path) -> None:
    """A run is as expected with what torch answers for; a fault of the stack's own is told without the rest."""
    file = tmp_path / "cases" / "layout" / "test_some.py"
    file.parent.mkdir(parents=True)
    file.write_text(CASES, encoding="utf-8")
    plugin = ["-p", "conformance.plugin", "-p", "no:randomly", "-p", "no:cacheprovider", "--import-mode=importlib"]
    stacks = ["--stack=aot_eager", "--stack=backends.faulty:one_more", "--device=cpu", "--results=r"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))}
    command = [sys.executable, "-m", "pytest", "cases", *plugin, "-q", *stacks]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    results = Results.read(tmp_path / "r" / "results.json")
    found = {(one.stack.rpartition(":")[2], one.case.partition("::")[2]): one for one in results.results}
    assert {key: one.outcome for key, one in found.items()} == {
        ("aot_eager", "test_once"): "fail",
        ("aot_eager", "test_twice"): "fail",
        ("aot_eager", "test_traced"): "pass",
        ("one_more", "test_once"): "inherited",
        ("one_more", "test_twice"): "fail",
        ("one_more", "test_traced"): "not_applicable",
    }
    once, twice = found["one_more", "test_once"], found["one_more", "test_twice"]
    assert (once.first_divergence, once.reason) == ("dynamo", "dynamo fails likewise in outputs[1].value")
    assert twice.first_divergence == "backends.faulty:one_more"
    assert {one.name for one in twice.discrepancies} == {"calls[1].outputs[0].value"}
    assert "besides, dynamo fails likewise in " in twice.reason
    assert "not this stack's: dynamo fails likewise in " in done.stdout
    shares = {(one.stack, one.pass_rate) for one in results.counts()}
    assert shares == {("aot_eager", 1 / 3), ("backends.faulty:one_more", 0.0)}
