"""What a run shows of autograd beside values: sequence numbers, marks of the backward, exports, traces."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from conformance import tensors
from conformance.canonical.sequence_numbers import origins
from conformance.oracle.side import run_backward
from conformance.probes import JointExport
from conformance.probes.backward_marks import marked
from conformance.probes.profiler import profiled
from conformance.program.programs import Program
from conformance.run.bound_stack import BoundStack
from conformance.stacks import StackError, resolve

TWO = tensors((2,), device="cpu", requires_grad=True)
PLAIN = tensors((2,), device="cpu")


def on(name: str) -> BoundStack:
    return BoundStack(resolve(name), "cpu")


def product(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sin()


def reads_a_pointer(x: torch.Tensor) -> torch.Tensor:
    return x * x.data_ptr()


def test_backward_functions_are_profiled_with_their_numbers() -> None:
    """One line a number that a backward function has, from 0 on, whatever the thread has counted before."""
    lines: list[str] = []
    x = torch.ones(2, requires_grad=True)
    with profiled(lines):
        (x * 2).sin().sum().backward()

    assert lines == ["0 | Mul", "1 | Sin", "2 | Sum"]


def test_nodes_are_listed_with_the_number_and_the_function_they_come_from() -> None:
    """Nodes without a number are left out, and numbers count from 0 without gaps."""
    graph = make_fx(lambda x: x.sin() + 1)(torch.ones(2)).graph
    sine, add = (node for node in graph.nodes if node.op == "call_function")
    sine.meta.update(seq_nr=7, source_fn_stack=[("sin", torch.sin)])
    add.meta.pop("seq_nr", None)

    assert origins(graph) == ["0 | aten.sin | sin |"]
    add.meta.update(seq_nr=9, fwd_source_fn_stack=[("sin", "sin")])
    assert origins(graph) == ["0 | aten.sin | sin |", "1 | aten.add |  | sin"]


def test_a_marked_backward_tells_what_it_saw_and_what_is_left() -> None:
    """The hooks' marks are there while the backward runs, and gone afterwards."""
    lines: list[str] = []
    x = torch.ones(2, requires_grad=True)
    marked(partial(run_backward, Program(function=product)), lines)([product(x)])

    assert lines == ["in the backward: grad_fn_seq_nr, in_grad_fn", "after it: (no mark)"]
    assert x.grad is not None


@pytest.mark.parametrize(
    ("by", "text"),
    [
        ("fake_mode", "FakeTensor f32[2]"),
        ("make_fx[fake]", "in0: f32[2]\nmul: f32[2] = aten.mul(in0, in0)\nsin: f32[2] = aten.sin(mul)\nreturn sin"),
        ("stack", "in0: f32[2]\nmul: f32[2] = mul(in0, in0)\nsin: f32[2] = mul.sin()\nreturn (sin,)"),
    ],
)
def test_a_program_is_traced_without_being_run(by: str, text: str) -> None:
    """Each way of tracing shows what it makes of the program."""
    found: Any = on("aot_eager").trace(product, PLAIN, by=by)

    assert found.text.strip() == text


def test_what_ends_a_trace_is_its_text() -> None:
    """A data pointer that is read while tracing raises, and the error is what the trace shows."""
    found: Any = on("aot_eager").trace(reads_a_pointer, PLAIN, by="make_fx[fake]")

    assert "data" in found.text
    assert found.text.startswith("RuntimeError")


def test_an_unknown_way_of_tracing_is_refused() -> None:
    """The message says which ways there are."""
    with pytest.raises(StackError, match="fake_mode"):
        on("eager").trace(product, PLAIN, by="magic")


def test_the_exported_graph_is_what_the_backend_compiles() -> None:
    """Behind the joint export a stack still does as eager does, and shows the graph that was exported."""
    run = on("aot_eager").run(product, PLAIN, probes=(JointExport(),))

    run.assert_matches_eager()
    assert "aten.sin" in run.seen_by(JointExport()).text
