"""Pasted into scripts: the program, its calls and the steps after them, as both sides take them."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from conformance.standalone.looking import Facts, leaves


@dataclasses.dataclass
class Case:
    """What is compiled, what is called on it in order, and how."""

    calls: Callable[[str], list[Any]]
    #: Wraps the backward of the stack's side, and the backend; what is compiled of a program, given its first call.
    compile: Callable[..., Any]
    program: Any = None
    make: Any = None
    device: str = "cpu"
    after: Any = None
    inference: str = ""
    backward: Any = True
    tangent: Any = None
    within: Callable[[], Any] = contextlib.nullcontext
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: Threads of one operator; 0 for as many as torch takes.
    threads: int = 0
    #: What the case says about the compilation, by what is counted: graphs, recompiles, graph_breaks.
    promised: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: What the case says of the stack's error, where that is what differs.
    says: str = ""
    watched: bool = True
    #: Whether what a call lets go of is looked at, by one more call.
    fates: bool = False
    #: How far off values were in the run, by the names of the places, where rounding is let pass up to half of that.
    off_by: Mapping[str, float] = dataclasses.field(default_factory=dict)
    #: What its lines begin with, in a script of several cases.
    name: str = ""
    #: Seconds that the stack may take where it ends the process or hangs; 0 where it does neither.
    in_child: float = 0

    def grad_mode(self) -> Any:
        if self.inference == "inference_mode":
            return torch.inference_mode()
        return torch.no_grad() if self.inference else contextlib.nullcontext()


@dataclasses.dataclass
class Side:
    """What one side showed: facts after every step, and what ended it, with its step and the modes it left behind."""

    phases: list[Facts] = dataclasses.field(default_factory=list)
    raised: BaseException | None = None
    step: str = ""
    left: Facts = dataclasses.field(default_factory=dict)


class Absent(Exception):
    """The stack is not here: a fault of the script, and nothing that the stack does."""


def made_by(case: Case, program: Any, arguments: Any, keywords: Any) -> Callable[..., Any]:
    """What the stack makes of the program."""
    try:
        found: Callable[..., Any] = case.compile(program, arguments, keywords)
    except Exception as error:
        if isinstance(error, ImportError) or type(error).__name__ == "InvalidBackend":
            raise Absent(str(error)) from error
        raise
    return found


def identical(first: Any, second: Any) -> bool:
    """Bit for bit, but for the payload of NaN."""
    if not isinstance(second, torch.Tensor) or first.shape != second.shape or first.dtype != second.dtype:
        return False
    return torch.equal(first, second) or bool(((first == second) | (first.isnan() & second.isnan())).all())


def seed(number: int) -> None:
    random.seed(number)
    torch.manual_seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)


def one_call(call: Any) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Positional arguments, keyword arguments, and the step before the call."""
    return (call, {}, None) if isinstance(call, tuple) else (tuple(call.args), dict(call.kwargs), call.before)


def as_tuple(value: Any) -> Any:
    return value if isinstance(value, (tuple, list, dict)) else (value,)


def incoming(output: torch.Tensor) -> torch.Tensor:
    """The gradient that comes in at an output: small integers that differ, in the output's own layout."""
    if output.layout is not torch.strided:
        return torch.ones(output.shape, dtype=output.dtype, device=output.device)
    steps = torch.arange(output.numel(), device=output.device) % 5 - 2
    values = (steps + (steps == 0).to(steps.dtype)).reshape(output.shape).to(output.dtype)
    return torch.empty_like(output.detach()).copy_(values)


def run_backward(case: Case, outputs: list[Any]) -> None:
    """The case's own backward, or one through every output that has a gradient, of all calls at once."""
    if callable(case.backward):
        case.backward(outputs)
        return
    roots: list[torch.Tensor] = []
    for output in outputs:
        for _, leaf in leaves(as_tuple(output), ""):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad and not any(leaf is root for root in roots):
                roots.append(leaf)
    if roots:
        torch.autograd.backward(roots, [(case.tangent or incoming)(root) for root in roots])


#: Modes that are never left: leaving one brings back what was in force before it.
ENTERED: list[Any] = []


@contextlib.contextmanager
def modes_restored() -> Iterator[None]:
    """What a side leaves behind ends with it."""
    grad, dtype, precision = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_float32_matmul_precision()
    deterministic, anomaly = torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled()
    device, inference = torch.get_default_device(), torch.is_inference_mode_enabled()
    autocast = {kind: (torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")}
    try:
        yield
    finally:
        if torch.is_inference_mode_enabled() != inference:
            ENTERED.append(torch.inference_mode(inference))
            ENTERED[-1].__enter__()
            gc.collect()
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        torch.set_float32_matmul_precision(precision)
        torch.use_deterministic_algorithms(deterministic)
        torch.autograd.set_detect_anomaly(anomaly)
        for kind, (enabled, autocast_dtype) in autocast.items():
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, autocast_dtype)
        if torch.get_default_device() != device:
            torch.set_default_device(device)
