"""Short programs that find out what a stack can do: one for each capability that any stack may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch

from conformance.canonical.frames import without_machine_paths
from conformance.canonical.wrapped import first_line, innermost
from conformance.contract.capabilities import NOT_DECLARED
from conformance.contract.failure import UNTIL_LATER_CALL, Discrepancy
from conformance.program.programs import Calls, Program, call
from conformance.run.bound_stack import BoundStack
from conformance.run.run import Run
from conformance.stacks import Stack

#: Observables that say nothing of what a stack computes.
OF_MEMORY = ("lifetime", "identity", "storage_sharing")


@dataclass(frozen=True)
class Finding:
    """Whether a stack has a capability, and what was seen where it does not."""

    capability: str
    holds: bool
    seen: str = ""


def add_one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def sine_of_double(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).sin()


def double_in_place(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    return x + 1


def branch_on_a_value(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    return y * 2 if float(y.sum()) > 0 else y * 3


def differentiate_twice(arguments: tuple[torch.Tensor, ...], output: torch.Tensor) -> Any:
    (gradient,) = torch.autograd.grad(output.sum(), arguments, create_graph=True)
    return torch.autograd.grad(gradient.sum(), arguments)


def relu_of_sine(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(torch.sin(x))


def note_each_call(x: torch.Tensor, notes: list[str]) -> Any:
    notes.append(f"call {len(notes)}")
    return x + 1, dict.fromkeys(notes)


def row(device: str) -> list[tuple[Any, ...]]:
    return [(torch.arange(6.0, device=device) + 1,)]


def row_with_gradient(device: str) -> list[tuple[Any, ...]]:
    return [((torch.arange(6.0, device=device) + 1).requires_grad_(),)]


def two_sizes(device: str) -> list[tuple[Any, ...]]:
    return [(torch.arange(float(size), device=device) + 1,) for size in (5, 7)]


def two_dtypes(device: str) -> list[tuple[Any, ...]]:
    return [(torch.arange(6, device=device, dtype=dtype) + 1,) for dtype in (torch.float32, torch.float64)]


def matrix(device: str) -> list[tuple[Any, ...]]:
    return [(torch.arange(16.0, device=device).reshape(4, 4) - 8,)]


class CountsCalls(torch.nn.Module):
    """A parameter that is read and a buffer that is written."""

    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return x * self.weight


def weight_doubled(device: str) -> list[Any]:
    def double(module: Any) -> None:
        with torch.no_grad():
            module.weight.mul_(2)

    x = torch.arange(6.0, device=device)
    return [(x,), call(x, before=double)]


def two_calls_with_one_list(device: str) -> list[tuple[Any, ...]]:
    notes: list[str] = []
    return [(torch.arange(6.0, device=device), notes) for _ in range(2)]


def _differs(run: Run) -> str:
    """The first thing that differs from eager, in words; empty where nothing does.

    A stack that keeps tensors alive or uses them again has the capability all the same: that it does so is a failure of
    its cases, which a capability that is denied would hide.
    """
    differing = [found for found in run.comparison.discrepancies if not _of_memory(found)]
    for found in differing:
        if found.observable == "requires_grad" and found.where.startswith("outputs"):
            return "outputs do not require grad"
        if found.observable == "exception":
            error = run.compiled.raised.error if run.compiled.raised is not None else None
            return f"{type(innermost(error)).__name__}: {first_line(innermost(error))}" if error else str(found)
    return str(differing[0]) if differing else ""


def _of_memory(found: Discrepancy) -> bool:
    """Whether a discrepancy is about whose memory a tensor has, and for how long, and not about what was computed."""
    return found.observable in OF_MEMORY or UNTIL_LATER_CALL in found.actual


def _as_eager(program: Any, calls: Calls, **options: Any) -> Callable[[BoundStack], str]:
    return lambda stack: _differs(stack.run(program, calls, **options))


def _compile(stack: BoundStack) -> str:
    run = stack.run(add_one, row)
    return _differs(run) or ("" if run.recorder.compiles else "nothing was compiled")


def _dynamic_shapes(stack: BoundStack) -> str:
    run = stack.run(add_one, two_sizes, dynamic=True)
    graphs = run.recorder.compiles
    return _differs(run) or ("" if graphs == 1 else f"{graphs} graphs for two sizes")


def _recompiles(stack: BoundStack) -> str:
    run = stack.run(add_one, two_dtypes)
    said = "" if run.recorder.recompiles else "no reason was recorded when a call did not fit"
    return _differs(run) or said


def _graph_breaks(stack: BoundStack) -> str:
    run = stack.run(branch_on_a_value, row)
    return _differs(run) or ("" if run.recorder.graph_breaks else "no graph break was recorded")


def _lowered_graph(stack: BoundStack) -> str:
    run = stack.run(sine_of_double, row)
    return _differs(run) or ("" if run.recorder.lowered else "no graph of inductor's was seen")


def _minifier(stack: BoundStack) -> str:
    stack.minify(relu_of_sine, matrix, fault="relu.compile_error").assert_minified()
    return ""


def _minifier_after_aot(stack: BoundStack) -> str:
    if seen := _lowered_graph(stack):
        return seen
    stack.minify(relu_of_sine, matrix, after="aot", fault="relu.compile_error").assert_minified()
    return ""


#: What each probe returns is what was seen where the capability is lacking; empty where it holds.
PROBES: Mapping[str, Callable[[BoundStack], str]] = MappingProxyType(
    {
        "compile": _compile,
        "training": _as_eager(sine_of_double, row_with_gradient),
        "input_mutation": _as_eager(double_in_place, row),
        "module_state": _as_eager(CountsCalls, weight_doubled, inference=True),
        "python_objects": _as_eager(note_each_call, two_calls_with_one_list),
        "dynamic_shapes": _dynamic_shapes,
        "recompiles": _recompiles,
        "graph_breaks": _graph_breaks,
        "lowered_graph": _lowered_graph,
        "minifier": _minifier,
        "minifier_after_aot": _minifier_after_aot,
        "double_backward": _as_eager(
            Program(sine_of_double, backward=False, after=differentiate_twice), row_with_gradient
        ),
    }
)
#: Capabilities that are ways of compiling and show in nothing that a caller sees: only a description declares them.
DECLARED_ONLY: Mapping[str, str] = MappingProxyType(
    {
        "freezing": "whether parameters are folded shows in the lowered graph alone",
        "layout_optimization": "whether layouts are changed inside a graph shows in the lowered graph alone",
        "profiler": "which functions the profiler sees is up to how the backward is compiled",
        "minifier_aot_inductor": "only AOTInductor has this minifier",
    }
)


def probe(stack: Stack, device: str, capability: str) -> Finding:
    """Run one capability's program on the stack; nothing that it raises comes out."""
    if capability in DECLARED_ONLY:
        declared = capability in stack.capabilities
        return Finding(capability, declared, "" if declared else f"{NOT_DECLARED}: {DECLARED_ONLY[capability]}")
    if capability != "compile" and not stack.compiles:
        return Finding(capability, capability in stack.capabilities, "nothing is compiled")
    try:
        seen = PROBES[capability](BoundStack(stack, device))
    except Exception as error:  # whatever a backend raises is what was seen
        seen = f"{type(error).__name__}: {first_line(error)}"
    return Finding(capability, not seen, " ".join(without_machine_paths(seen).split()))
