"""Run a call sequence on one side and record the observation: everything a caller can see, phase by phase."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from conformance.canonical.wrapped import members_of
from conformance.oracle.lifetimes import lifetimes
from conformance.oracle.observation import Observation, Phase, Raised
from conformance.oracle.raised_warnings import heard
from conformance.oracle.snapshot import Observer
from conformance.oracle.state.global_state import defined_memory, dispatch_restored, global_state_restored
from conformance.oracle.state.reachable_state import Watched
from conformance.oracle.tensor_facts import as_tuple
from conformance.program.nested_values import leaves
from conformance.program.programs import Call, Calls, Program, build_calls
from conformance.program.seeds import SEED, seed_everything


def tangent(output: torch.Tensor) -> torch.Tensor:
    """A real, uneven incoming gradient in the output's own layout: small integers, exact in every dtype."""
    if output.layout is not torch.strided:
        return torch.ones(output.shape, dtype=output.dtype, device=output.device)
    steps = torch.arange(output.numel(), device=output.device) % 5 - 2
    values = (steps + (steps == 0).to(steps.dtype)).reshape(output.shape).to(output.dtype)
    return torch.empty_like(output.detach()).copy_(values)


def run_backward(program: Program, outputs: list[Any]) -> None:
    """The program's own backward, or one through every distinct output that has a gradient, all calls' at once."""
    if callable(program.backward):
        program.backward(outputs)
        return
    incoming = program.tangent or tangent
    roots: list[torch.Tensor] = []
    for output in outputs:
        for _, leaf in leaves(as_tuple(output), ""):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad and not any(leaf is root for root in roots):
                roots.append(leaf)
    if roots:
        torch.autograd.backward(roots, [incoming(root) for root in roots])


@contextmanager
def _clock(timings: dict[str, float], key: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[key] = timings.get(key, 0.0) + time.perf_counter() - started


def observe(
    program: Program,
    calls: Calls,
    device: str,
    *,
    compile: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda built: built,
    during_build: AbstractContextManager[Any] | None = None,
    ran: str = "eager",
    last_look: bool = True,
) -> Observation:
    """Build the program and its arguments, run the sequence, and record what is seen after every step.

    ``compile`` turns the built program into what is called: the identity on the eager side. Exceptions of the
    calls, the backward and the follow-up are recorded; those of building are faults of the case and come out.
    Where nothing was raised, and unless ``last_look`` is False, one more call shows what a call lets go of.
    ``timings`` has the seconds of ``build``, of the calls (key ``ran``) and of ``observe``.
    """
    result = Observation()
    timings = result.timings
    with global_state_restored(), program.around_side():
        with _clock(timings, "build"), defined_memory(), during_build or nullcontext():
            built = program.build(device)
            sequence = build_calls(calls, device)
        with _clock(timings, "observe"):
            steps = [*(call.before for call in sequence), program.after]
            watched = Watched(built, steps) if program.watched else Watched(None)
            observer = Observer(built, sequence, device, watched)
        try:
            with dispatch_restored():
                called = _run(program, built, compile, observer, result, ran)
                if last_look and result.raised is None and program.may_be_called_again:
                    with _clock(timings, "observe"):
                        facts = lifetimes(lambda: _another_call(program, called, calls, device), device)
                        result.phases.append(Phase("another call", "call", facts))
        finally:
            watched.restore()
    return result


def _run(
    program: Program,
    built: Callable[..., Any],
    compile: Callable[[Callable[..., Any]], Callable[..., Any]],
    observer: Observer,
    result: Observation,
    ran: str,
) -> Callable[..., Any]:
    """Take every step, a snapshot after each; returns what was called."""
    timings, sequence = result.timings, observer.sequence
    compiled: list[Callable[..., Any]] = []

    def one_call(index: int) -> None:
        call = sequence[index]
        if not compiled:
            compiled.append(compile(built))
        if call.before is not None:
            call.before(built)
        seed_everything(SEED + index)
        observer.mark_generators()
        with program.grad_mode():
            observer.outputs.append(compiled[0](*call.args, **call.kwargs))

    def follow_up() -> None:
        assert program.after is not None
        last = sequence[-1]
        arguments = tuple(last.args) + tuple(last.kwargs.values())
        observer.follow_up = program.after(arguments, observer.outputs[-1])
        observer.has_follow_up = True

    steps: list[tuple[str, str, Callable[[], None]]] = []
    for index in range(len(sequence)):
        steps.append((f"call {index}", "call", lambda index=index: one_call(index)))  # type: ignore[misc]
    if program.runs_backward:
        steps.append(("backward", "backward", lambda: run_backward(program, observer.outputs)))
    if program.after is not None:
        steps.append(("follow-up", "follow_up", follow_up))
    for number, (name, kind, step) in enumerate(steps):
        try:
            observer.mark_generators()
            with _clock(timings, ran), heard(result.warned):
                step()
        except Exception as error:
            result.raised = Raised(kind, number, error, observer.global_state())
            # What the frames hold (a mode that was entered) is to end with this side and not when the error does.
            for member in members_of(error):
                traceback.clear_frames(member.__traceback__)
            break
        with _clock(timings, "observe"):
            result.phases.append(observer.snapshot(name, kind))
    return compiled[0] if compiled else built


def _another_call(program: Program, called: Callable[..., Any], calls: Calls, device: str) -> tuple[Call, Any]:
    """The last call of the sequence, and the oracle's backward, once more on arguments of their own."""
    call = build_calls(calls, device)[-1]
    seed_everything(SEED)
    with program.grad_mode():
        output = called(*call.args, **call.kwargs)
    if program.runs_backward and not callable(program.backward):
        run_backward(program, [output])
    return call, output
