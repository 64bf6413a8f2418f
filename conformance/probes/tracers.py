"""Traces a program without running it: on fake tensors, by `make_fx`, or by a stack as one graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from conformance.canonical.exceptions import innermost_message
from conformance.canonical.expect import Expectable
from conformance.canonical.graphs import Graph
from conformance.canonical.tensor_types import dtype_name
from conformance.capture.recorder import Recorder
from conformance.oracle.state.global_state import global_state_restored
from conformance.program.programs import Calls, build_calls
from conformance.stacks.base import Stack
from conformance.stacks.config import StackError, patched

#: Whether reading a fake tensor's data pointer only warns; torch turns this off in its own tests.
POINTERS_RAISE: Mapping[str, Any] = {"functorch.fake_tensor_allow_unsafe_data_ptr_access": False}


def traced(stack: Stack, program: Callable[..., Any], calls: Calls, device: str, by: str) -> Expectable:
    """What tracing makes of the program, or the error it ends with.

    ``by`` is "fake_mode" (types of the outputs), "make_fx[fake]" or "make_fx[symbolic]" (graphs), or "stack" (the graph
    handed to the backend, compiled with fullgraph).
    """
    ways = {
        "fake_mode": lambda: _on_fake_tensors(program, calls, device),
        "make_fx[fake]": lambda: Graph.of(make_fx(program, tracing_mode="fake")(*_arguments(calls, device))).text,
        "make_fx[symbolic]": lambda: (
            Graph.of(make_fx(program, tracing_mode="symbolic")(*_arguments(calls, device))).text
        ),
        "stack": lambda: _by_stack(stack, program, calls, device),
    }
    if by not in ways:
        raise StackError(f"a program is traced by {', '.join(ways)}, not {by!r}")
    # A stack's own session has these in force.
    around = (nullcontext(),) if by == "stack" else (patched(POINTERS_RAISE), stack.while_tracing() or nullcontext())
    with ExitStack() as contexts:
        for context in (global_state_restored(), *around):
            contexts.enter_context(context)
        try:
            text = ways[by]()
        except Exception as error:
            text = innermost_message(error)
    return Expectable(f"trace by {by}", text)


def _arguments(calls: Calls, device: str) -> tuple[Any, ...]:
    return build_calls(calls, device)[0].args


def _on_fake_tensors(program: Callable[..., Any], calls: Calls, device: str) -> str:
    with FakeTensorMode():
        outputs = program(*_arguments(calls, device))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return ", ".join(
        f"{type(one).__name__} {dtype_name(one.dtype)}{list(one.shape)}"
        for one in outputs
        if isinstance(one, torch.Tensor)
    )


def _by_stack(stack: Stack, program: Callable[..., Any], calls: Calls, device: str) -> str:
    recorder = Recorder()
    with stack.running(POINTERS_RAISE, recorder):
        stack.compile(program, recorder, fullgraph=True)(*_arguments(calls, device))
    return "\n\n".join(graph.text for graph in recorder.dynamo)
