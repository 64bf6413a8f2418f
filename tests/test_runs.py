"""A run of a program on a stack: the first diverging rung, and front-end graphs that are shared rightly."""

from __future__ import annotations

import functools
import inspect
import os
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._functorch.config
from torch._inductor import cpu_vec_isa

from conformance import tensors
from conformance.capture.recorder import Recorder
from conformance.run.bound_stack import BoundStack
from conformance.run.texts import ConformanceFailure
from conformance.stacks import builtin, resolve

TWO = tensors((2,), device="cpu", requires_grad=True)


def more_when_compiled(x: torch.Tensor) -> torch.Tensor:
    return x * (3 if torch.compiler.is_compiling() else 2)


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def add_rows(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x + torch.ones(3)


def run(stack: str, program: Any, **options: Any) -> Any:
    return BoundStack(resolve(stack), "cpu").run(program, TWO, **options)


def test_operators_run_on_one_thread_whatever_the_machine_has() -> None:
    """With two threads the gradient of a convolution's weight is laid out otherwise, and by some stacks only."""
    torch.set_num_threads(2)
    run("eager", double)
    assert torch.get_num_threads() == 1


def threads_seen(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    return x * 2, torch.get_num_threads()


def test_a_case_may_ask_for_threads() -> None:
    """Both sides of its run have them, and the next run has the run's own number again."""
    asked = run("eager", threads_seen, threads=2)
    seen = [one.phases[0].facts["outputs[1]", "value"] for one in (asked.eager, asked.compiled)]

    assert seen == [("int", "2"), ("int", "2")]
    assert run("eager", threads_seen).eager.phases[0].facts["outputs[1]", "value"] == ("int", "1")


def test_first_divergence_is_the_lowest_rung() -> None:
    """A program that Dynamo already gets wrong diverges there, whatever the stack."""
    assert run("aot_eager", more_when_compiled).first_divergence() == "dynamo"


def test_a_rung_above_the_stack_is_not_asked(monkeypatch: Any) -> None:
    """A stack that is a rung itself is compared with what lies below it, not with what builds on it."""
    found = run("aot_eager", double)
    asked: list[str] = []
    monkeypatch.setattr(found, "_differs", lambda rung: asked.append(rung.name))

    assert found.first_divergence() is None
    assert asked == ["dynamo"]


def test_front_end_graphs_depend_on_the_backward() -> None:
    """The same program run without a backward shows no backward graph, and with one it does."""
    assert len(run("eager", double, backward=False).backward) == 0
    assert len(run("eager", double).backward) == 1


@torch.compiler.disable
def sine(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


def never_compiled(x: torch.Tensor) -> torch.Tensor:
    return sine(x)


def test_any_number_of_graphs_is_not_none() -> None:
    """Where the number is left open, a program of which nothing was compiled still fails."""
    one = tensors((2,), device="cpu")
    BoundStack(resolve("dynamo"), "cpu").run(double, one).assert_compiled(graphs=None)

    with pytest.raises(ConformanceFailure, match="graphs: expected at least one, got 0"):
        BoundStack(resolve("dynamo"), "cpu").run(never_compiled, one).assert_compiled(graphs=None)


def test_graph_breaks_may_be_left_open() -> None:
    """A call that raises may end in a graph break as well; otherwise their number counts."""
    found = run("dynamo", add_rows)

    found.assert_compiled(graphs=0, graph_breaks=None)
    with pytest.raises(ConformanceFailure, match="graph_breaks: expected 0, got 1"):
        found.assert_compiled(graphs=0)
    assert str(found.eager_error).startswith("RuntimeError: The size of tensor a (2)")


@pytest.mark.skipif(
    not hasattr(torch._functorch.config, "error_on_custom_op_aliasing"), reason="this torch has no such config"
)
def test_a_run_is_no_stricter_in_ci() -> None:
    """What torch makes an error where the environment has CI is none in a run, there as elsewhere."""
    config = torch._functorch.config
    with config.patch(error_on_custom_op_aliasing=True):
        with resolve("aot_eager").running({}, Recorder()):
            assert not config.error_on_custom_op_aliasing
        assert config.error_on_custom_op_aliasing


def test_empty_libraries_that_nobody_writes_are_removed(tmp_path: Path, monkeypatch: Any) -> None:
    """What a killed compiler left is gone before a run, and what one is writing or has written stays."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    folder = tmp_path / "ab"
    folder.mkdir()
    for name, text, age in (("left", "", 3600), ("begun", "", 0), ("done", "code", 3600)):
        (folder / f"{name}.so").write_text(text)
        os.utime(folder / f"{name}.so", (time.time() - age,) * 2)

    builtin._remove_unfinished()

    assert sorted(file.stem for file in folder.iterdir()) == ["begun", "done"]


def test_workers_are_told_what_vectors_work(monkeypatch: Any) -> None:
    """They need not ask themselves, unless one of the vectors that the processor has does not work."""
    listed = cpu_vec_isa.valid_vec_isa_list
    if not listed():
        pytest.skip("this machine has no vectors that inductor uses")
    assert builtin.simd_checked() == {"TORCHINDUCTOR_VEC_ISA_OK": "1"}

    @functools.wraps(inspect.unwrap(listed))
    def none() -> list[Any]:
        return []

    monkeypatch.setattr(cpu_vec_isa, "valid_vec_isa_list", none)
    assert builtin.simd_checked() == {}
