"""Scripts of failures show what the run saw, on three wrong backends: a sample of what scripts_shown.py measures.

All scripts run in one process of their own, which imports torch once.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import assert_refused_as_eager, assert_samples_as_eager
from conformance.contract.failure import CaseFailure, Discrepancy
from conformance.run.bound_stack import BoundStack
from conformance.run.run import Run
from conformance.stacks import resolve
from conformance.standalone.script import Subject
from conformance.standalone.writing import names_told, write
from conformance.suite.case_scripts.dry import DryStack, look_at
from conformance.suite.target import Target

CASES = Path(__file__).parents[1] / "cases"
#: Cases that each backend fails, and among them every kind of failure whose script once showed something else.
FAILED = {
    "adds_one": (
        "aot_autograd/test_special_values.py::test_special_values[copies]",
        "aot_autograd/test_lazy_views.py::test_lazy_view_as_an_input[split-negated]",
        "layout/test_custom_operators.py::test_exact_strides[convolution]",
        "generated/test_kept_programs.py::test_a_program_that_was_drawn[p04]",
    ),
    "keeps_buffers": (
        "python/test_containers_changed.py::test_container_that_breaks_the_graph[counter_read]",
        "aot_autograd/test_buffers.py::test_buffers_are_updated[comes_out]",
        "duplicate_arguments/test_return_to_first_form.py::test_distinct_same_distinct_same[four]",
        "generated/test_kept_programs.py::test_a_program_that_was_drawn[p16]",
    ),
    "drops_writes": (
        "aot_autograd/test_metadata_of_an_intermediate.py::test_output_has_the_new_shape[set-with_grad]",
        "aot_autograd/test_errors_of_writes.py::test_write_to_inference_tensor",
        "aot_autograd/test_reshaped_inputs.py::test_reshaped_input_without_gradients[inference_mode]",
        "python/test_tensor_subclasses.py::test_torch_dispatch[rule]",
    ),
}
#: Runs scripts one after the other; prints the exit status and the output of each.
DRIVER = """
import contextlib, io, json, runpy, sys

found = {}
for script in sys.argv[1:]:
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        found[script] = end.code, output.getvalue()
print(json.dumps(found))
"""


def failures(backend: str, folder: Path) -> Iterator[tuple[Path, set[str]]]:
    """The script of each case on the backend, and the names of what its run saw."""
    stack, target = resolve(f"tests.wrong_backends:{backend}"), Target(backend, "cpu")
    taken: dict[str, Any] = {}

    def seen(case: str, dry: DryStack, module: str, error: BaseException | None) -> None:
        taken[case] = dry.taken

    for case in FAILED[backend]:
        # What the case runs is the same on every stack, and one of torch's needs no probing.
        look_at(CASES / case.partition("::")[0], "aot_eager", "cpu", {case}, seen)
        program, calls = taken[case]
        found = Run(stack, program, calls, "cpu").comparison.discrepancies
        assert found, f"{backend} keeps the promises of {case}"
        yield write(Subject(stack, program, calls, "cpu", found), case, target, folder), {one.name for one in found}


def not_shown(scripts: dict[Path, set[str]]) -> list[str]:
    """Which scripts do not exit 1 with all that was seen, with what they print."""
    command = [sys.executable, "-c", DRIVER, *map(str, scripts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    return [
        f"{path.name}: exit status {told[str(path)][0]}\n{told[str(path)][1]}"
        for path, seen in scripts.items()
        if told[str(path)][0] != 1 or not seen <= names_told(told[str(path)][1])
    ]


def test_failures_of_wrong_backends_are_shown(tmp_path: Path) -> None:
    """At least 95% of the failures are shown by their scripts, with the observables of the run."""
    scripts = {path: names for backend in FAILED for path, names in failures(backend, tmp_path)}
    missed = not_shown(scripts)
    assert len(missed) <= 0.05 * len(scripts), "\n".join(missed)


def row_failures(folder: Path) -> Iterator[tuple[Path, set[str]]]:
    """The scripts of an operator row and of refused inputs, whose failures are told of several programs."""
    for backend, tried, row in (
        ("adds_one", functools.partial(assert_samples_as_eager, form="results"), "sorting-float32"),
        ("drops_writes", functools.partial(assert_samples_as_eager, form="in_place"), "bits-int64"),
        ("adds_one", assert_refused_as_eager, "reduction-errors"),
    ):
        stack = BoundStack(resolve(f"tests.wrong_backends:{backend}"), "cpu", "operators")
        with pytest.raises(CaseFailure) as raised:
            tried(stack, row)
        failure = raised.value
        parts = {name: (one.program, one.calls) for name, one in failure.parts.items()}
        run, found = failure.run, failure.discrepancies
        subject = Subject(run.stack, run.program, run.calls, "cpu", found, parts=parts)
        yield write(subject, row, Target(backend, "cpu"), folder), {one.name for one in found}


def test_every_sample_of_a_row_that_differs_is_shown(tmp_path: Path) -> None:
    """The script of an operator row runs each sample by itself, and names what differs by sample."""
    assert not_shown(dict(row_failures(tmp_path))) == []


def test_a_finding_of_several_programs_tells_them_apart() -> None:
    """Discrepancies go with the program that their place begins with."""
    failure = CaseFailure("", phase="call", parts={"add[0]": None, "add[1]": None})
    found = [Discrepancy("value", f"{name}.outputs[0]", "1.0", "2.0") for name in failure.parts]
    parts = dict.fromkeys(failure.parts, (None, None))
    each: Any = Subject(None, None, None, "cpu", found, parts=parts).each()  # type: ignore[arg-type]
    assert [(one.name, [found.name for found in one.discrepancies]) for one in each] == [
        ("add[0]", ["outputs[0].value"]),
        ("add[1]", ["outputs[0].value"]),
    ]
