"""Runs one generated program on one stack: how it differs from eager, and the signature of the difference."""

from __future__ import annotations

import itertools
import re
import sys
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

from conformance.canonical.exceptions import first_line, innermost
from conformance.contract.failure import Discrepancy
from conformance.generate.sketch import Sketch, source
from conformance.run.bound_stack import BoundStack
from conformance.run.check import program_of
from conformance.run.run import Run
from conformance.run.texts import ConformanceFailure
from conformance.stacks import Stack

LONGEST_MESSAGE = 90
_NUMBERS = itertools.count()
#: What can differ, in the order in which it harms a caller, each with the observables that say so.
GRAVEST_FIRST = {
    "values": ("value", "storage_contents", "shape", "dtype"),
    "gradients": ("grad",),
    "memory": ("storage_sharing", "storage_offset"),
    "identity": ("identity",),
    "history": ("requires_grad", "has_history", "is_leaf", "is_inference"),
    "versions": ("version",),
    "strides": ("stride", "size_1_stride"),
    "state": ("global_state",),
}


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
        _, told = min(_told(one.name) for one in found)
        return told + _when(run)
    if raised is None:
        assert run.eager.raised is not None
        return f"exception: nothing raised for {type(run.eager.raised.error).__name__} in {run.eager.raised.kind}"
    error = innermost(raised.error)
    pattern = re.sub(r"'[^']*'|\"[^\"]*\"|\S*/\S*", "_", first_line(error))
    pattern = re.sub(r"\((N(, )?|,)*\)", "(...)", re.sub(r"0x[0-9a-f]+|\d+", "N", pattern))[:LONGEST_MESSAGE].strip()
    return f"exception {type(error).__name__} in {raised.kind}: {pattern} at {_frame(error)}"


def _told(name: str) -> tuple[int, str]:
    """How grave a discrepancy is (0 is gravest), and its wording in the signature: "values of outputs"."""
    place, *path = re.sub(r"\[[^\]]*\]", "", name).removeprefix("calls.").split(".")
    observable = "grad" if "grad" in path else path[-1] if path else place
    for rank, (kind, observables) in enumerate(GRAVEST_FIRST.items()):
        if observable in observables:
            return rank, f"{kind} of {place}"
    return len(GRAVEST_FIRST), f"{observable} of {place}"


def _when(run: Run) -> str:
    """'' for the first call; whether a later call ran what was compiled for an earlier one."""
    calls = [re.match(r"calls\[(\d+)\]", found.name) for found in run.comparison.discrepancies]
    if not all(call is not None and int(call[1]) > 0 for call in calls):
        return ""
    return " in a later call" + ("" if run.recorder.recompiles else ", without a recompile")


def _frame(error: BaseException) -> str:
    """The innermost frame in torch, as a file of the package and a function."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        parts = Path(frame.filename).parts
        if "torch" in parts:
            return f"{'/'.join(parts[len(parts) - 1 - parts[::-1].index('torch') :])}:{frame.name}"
    return "no frame of torch"
