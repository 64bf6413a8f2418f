"""One generated program on one stack: how it differs from eager, and the signature by which that is known again."""

from __future__ import annotations

import re
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

from conformance.check import program_of
from conformance.exceptions import first_line, innermost
from conformance.generate.sketch import Sketch, source
from conformance.results import Discrepancy
from conformance.runs import BoundStack, ConformanceFailure, Run
from conformance.stacks import Stack

LONGEST_MESSAGE = 90


@dataclass(frozen=True)
class Trial:
    """What one program showed: nothing, or discrepancies with their signature."""

    eager_ran: bool
    signature: str = ""
    discrepancies: tuple[Discrepancy, ...] = ()


def try_program(text: str, stack: Stack, device: str) -> Trial:
    """Run the program of a `conformance check` text on both sides."""
    module = types.ModuleType("generated")
    exec(compile(text, "<generated>", "exec"), module.__dict__)
    run = Run(stack, program_of(module, "the generated program"), module.calls, device)
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
        stage="call",
        discrepancies=trial.discrepancies,
    )


def signature(run: Run) -> str:
    """What makes two findings the same: the observables that differ, or what was raised and where in torch."""
    names = sorted({re.sub(r"\[[^\]]*\]", "", found.name) for found in run.comparison.discrepancies})
    if names != ["exception"]:
        return " ".join(names)
    raised = run.compiled.raised
    if raised is None:
        assert run.eager.raised is not None
        return f"exception: nothing raised for {type(run.eager.raised.error).__name__} in {run.eager.raised.stage}"
    error = innermost(raised.error)
    pattern = re.sub(r"'[^']*'|\"[^\"]*\"|\S*/\S*", "_", first_line(error))
    pattern = re.sub(r"0x[0-9a-f]+|\d+", "N", pattern)[:LONGEST_MESSAGE].strip()
    return f"exception {type(error).__name__} in {raised.stage}: {pattern} at {_frame(error)}"


def _frame(error: BaseException) -> str:
    """The innermost frame in torch, as a file of the package and a function."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        parts = Path(frame.filename).parts
        if "torch" in parts:
            return f"{'/'.join(parts[len(parts) - 1 - parts[::-1].index('torch') :])}:{frame.name}"
    return "no frame of torch"
