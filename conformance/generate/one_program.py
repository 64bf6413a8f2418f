"""Runs one generated program on one stack: how it differs from eager, and the signature of the difference."""

from __future__ import annotations

import itertools
import sys
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

from conformance.canonical.wrapped import first_line, innermost
from conformance.contract.failure import Discrepancy
from conformance.generate.sketch import Sketch, source
from conformance.results.signature import gravest, in_a_later_call, pattern
from conformance.run.bound_stack import BoundStack
from conformance.run.check import program_of
from conformance.run.run import Run
from conformance.run.texts import ConformanceFailure
from conformance.stacks import Stack

_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Trial:
    """The discrepancies of one program and their signature; none of either where it agrees with eager."""

    eager_ran: bool
    signature: str = ""
    discrepancies: tuple[Discrepancy, ...] = ()


def try_program(text: str, stack: Stack, device: str) -> Trial:
    """Run the program of a `conformance check` text on both sides."""
    # Dynamo imports the module of a class or after a graph break, and remembers what a name stood for.
    module = types.ModuleType(f"generated_{next(_NUMBERS)}")
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, "<generated>", "exec"), module.__dict__)
        run = Run(stack, program_of(module, "the generated program"), module.calls, device)
    finally:
        del sys.modules[module.__name__]
    eager_ran = run.eager.raised is None
    found = tuple(run.comparison.discrepancies)
    if not found:
        return Trial(eager_ran)
    return Trial(eager_ran, signature(run), found)


def assert_as_eager(stack: BoundStack, sketch: Sketch) -> None:
    """The program differs from eager in nothing, or in a way that the stack's ledger knows by its signature."""
    trial = try_program(source(sketch), stack.stack, stack.device)
    if not trial.signature or trial.signature in stack.known_signatures:
        return
    lines = "\n".join(f"  {found}" for found in trial.discrepancies)
    raise ConformanceFailure(
        f"a generated program on {stack.name}, {stack.device}, differs from eager\n{lines}\n"
        f"signature: {trial.signature}\n{sketch!r}",
        phase="call",
        discrepancies=trial.discrepancies,
    )


def signature(run: Run) -> str:
    """The text that is equal for two findings of one cause: the gravest observable and its call, or the exception."""
    found = run.comparison.discrepancies
    raised = run.compiled.raised
    if [one.name for one in found] != ["exception"]:
        return gravest(found)[1] + _when(run)
    if raised is None:
        assert run.eager.raised is not None
        return f"exception: nothing raised for {type(run.eager.raised.error).__name__} in {run.eager.raised.kind}"
    error = innermost(raised.error)
    return f"exception {type(error).__name__} in {raised.kind}: {pattern(first_line(error))} at {_frame(error)}"


def _when(run: Run) -> str:
    """'' for the first call; whether a later call ran what was compiled for an earlier one."""
    if not in_a_later_call(run.comparison.discrepancies):
        return ""
    return " in a later call" + ("" if run.recorder.recompiles else ", without a recompile")


def _frame(error: BaseException) -> str:
    """The innermost frame in torch, as a file of the package and a function."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        parts = Path(frame.filename).parts
        if "torch" in parts:
            return f"{'/'.join(parts[len(parts) - 1 - parts[::-1].index('torch') :])}:{frame.name}"
    return "no frame of torch"
