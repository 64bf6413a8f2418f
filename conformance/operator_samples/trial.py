"""Samples on a stack: all of a row as one program, and where that differs, each alone, as a program of a few lines."""

from __future__ import annotations

import functools
import itertools
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from conformance.contract.failure import Discrepancy, NothingToTry
from conformance.operator_samples import store
from conformance.operator_samples.conditioning import has_steady_gradients
from conformance.operator_samples.forms import EVERY_FORM, FORMS, everywhere_runs, in_every_form, is_refused
from conformance.operator_samples.rows import ALONE, OF_FAMILY, QUICK_KINDS, everything, is_family, members
from conformance.operator_samples.sample import Sample
from conformance.operator_samples.source import NoText, SampleCalls, program_text, whole_text
from conformance.operator_samples.spelling import RANDOM, is_difference, orders_equals
from conformance.program.programs import Program
from conformance.run.bound_stack import BoundStack
from conformance.run.check import load
from conformance.run.run import Run
from conformance.run.texts import ConformanceFailure

_NUMBERS = itertools.count()


def assert_samples_as_eager(stack: BoundStack, row: str, form: str, *, calls: int = 1) -> None:
    """The samples of a row, in a form, differ from eager in nothing; else those that do are tried alone.

    With ``calls`` the program is called that often, on fresh inputs. Raises `NothingToTry` where this release has no
    sample for the row, and where what differs needs what the stack is not said to be capable of.
    """
    chosen = [sample for sample in _samples(row, form) if everywhere_runs(sample, stack.device)]
    if not chosen:
        raise NothingToTry(f"torch {torch.__version__} has no sample of {row} in the form {form}")
    run = stack.run(_whole(chosen, stack.device), SampleCalls(chosen, calls))
    found = run.comparison.discrepancies
    if not found:
        # One operator alone may be what Dynamo breaks a graph at, so that nothing is left to compile.
        if is_family(row.rpartition("-")[0]) or not run.recorder.graph_breaks:
            run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
        return
    run.check_capable()
    alone = [(sample, run_alone(stack, sample, calls)) for sample in _suspects(chosen, found)]
    _tell(stack, row, form, [(sample, one) for sample, one in alone if one.comparison.discrepancies], run)


def assert_refused_as_eager(stack: BoundStack, row: str) -> None:
    """What eager refuses of a row's error inputs, the stack refuses with the same type of exception."""
    tried = []
    for sample in _samples(row, store.ERRORS):
        if is_refused(sample, stack.device):
            tried.append((sample, run_alone(stack, sample, 1)))
    if not tried:
        raise NothingToTry(f"torch {torch.__version__} has no input of {row} that eager refuses")
    differing = [(sample, run) for sample, run in tried if run.comparison.discrepancies]
    if differing:
        _tell(stack, row, store.ERRORS, differing, differing[0][1])


def _samples(row: str, form: str) -> list[Sample]:
    """The samples of a row: of each member and dtype the first few that have the form."""
    name, _, kinds = row.rpartition("-")
    family = is_family(name)
    found = []
    for operator, kind in itertools.product(members(name), kinds.split("+")):
        stored = store.samples(operator, kind, everything() if family else None, QUICK_KINDS if family else ())
        made = [sample for sample in stored if not is_difference(sample) and not orders_equals(sample)]
        record = store.index()[operator]
        if form == store.ERRORS:
            found += made
        elif form == EVERY_FORM:
            found += in_every_form(made, record)
        else:
            formed = [one for sample in made for one in FORMS[form](sample, record)][: OF_FAMILY if family else ALONE]
            found += filter(has_steady_gradients, formed) if form == "gradients" else formed
    return found


def _whole(samples: Sequence[Sample], device: str) -> Program:
    module = _module(program_text(samples, device))
    return Program(function=module.program, backward=not any(sample.operator in RANDOM for sample in samples))


def run_alone(stack: BoundStack, sample: Sample, calls: int) -> Run:
    """One sample as a program of its own, from its text where its inputs can be written down."""
    ending = re.sub(r"\W+", "_", f"_{sample.name}").rstrip("_")
    try:
        module = _module(whole_text(sample, stack.device, ending, packed=True))
        made = vars(module)[f"calls{ending}"]
    except NoText:
        module, made = _module(program_text([sample], stack.device, ending)), SampleCalls([sample])
    if calls > 1:
        made = functools.partial(_repeated, made, calls)
    return stack.run_beside(Program(function=vars(module)[f"program{ending}"]), made)


def _repeated(made: Any, count: int, device: str) -> list[Any]:
    return [one for _ in range(count) for one in made(device)]


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="conformance-operators-")


def _module(text: str) -> Any:
    file = Path(_folder().name) / f"operator_{next(_NUMBERS)}.py"
    file.write_text(text, encoding="utf-8")
    return load(str(file))


def _suspects(samples: Sequence[Sample], found: Sequence[Discrepancy]) -> list[Sample]:
    """The samples whose results or arguments differ; all of them where something else does."""
    owners: list[int] = []
    for number, sample in enumerate(samples):
        owners += [number] * len(sample.tensors)
    suspected = set()
    for one in found:
        place = re.match(r"(?:calls\[\d+\]\.)?(outputs|arguments)\[(\d+)\]", one.where)
        if place is None:
            return list(samples)
        number = int(place[2])
        suspected.add(owners[number] if place[1] == "arguments" else number)
    return [samples[number] for number in sorted(suspected)]


def _tell(stack: BoundStack, row: str, form: str, differing: Sequence[tuple[Sample, Run]], whole: Run) -> None:
    if not differing:
        found = list(whole.comparison.discrepancies)
        told = "".join(f"\n  {one}" for one in found)
        raise ConformanceFailure(
            f"{row}, {form}, on {stack.name}, {stack.device}: differs from eager, though no sample does alone{told}",
            phase=whole.comparison.phase,
            discrepancies=found,
            exception=whole.comparison.exception,
            run=whole,
        )
    named, lines = [], []
    for sample, run in differing:
        for one in run.comparison.discrepancies:
            named.append(
                Discrepancy(one.observable, f"{sample.name}.{one.where}".rstrip("."), one.expected, one.actual)
            )
            lines.append(f"  {named[-1]}")
    first, run = differing[0]
    stack.narrow(run)
    text = _text(first, stack.device)
    raise ConformanceFailure(
        f"{row}, {form}, on {stack.name}, {stack.device}: {len(differing)} samples differ from eager\n"
        + "\n".join(lines)
        + f"\nthe first of them:\n{text}",
        phase=run.comparison.phase,
        discrepancies=named,
        exception=None,
        run=run,
        parts={sample.name: one for sample, one in differing},
    )


def _text(sample: Sample, device: str) -> str:
    try:
        return whole_text(sample, device)
    except NoText:
        return program_text([sample], device)
