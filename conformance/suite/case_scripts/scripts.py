"""The stand-alone script of one case on demand, and of cases whose stack ended the process or hung."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.contract.catalog import cases_root, without_root
from conformance.contract.failure import CaseFailure, Discrepancy
from conformance.program.sources import ScriptError
from conformance.run.in_child import Ended, call_in_child
from conformance.stacks import resolve
from conformance.standalone.script import Subject
from conformance.standalone.writing import ScriptOutcome, tried, write, write_script
from conformance.suite.case_scripts.dry import DryStack, look_at
from conformance.suite.items import CASE
from conformance.suite.options import UsageError
from conformance.suite.pytest_run import AllCases, run_cases
from conformance.suite.target import Target, case_id

#: Seconds after which a script calls a stack hung that hung in the run.
HUNG = 60.0


def script_of_case(case: str, stack: str, device: str, folder: Path, seconds: float) -> ScriptOutcome:
    """Run a case on a stack in a process of its own, and write the script of what it shows; a crash has one as well.

    ``case`` is an id as the report, the manifest or pytest prints it.
    """
    target = Target(resolve(stack).name, device)
    case = case_id(without_root(case), Path("/"), [target])[0].removeprefix("/")
    if not (cases_root() / case.partition("::")[0]).is_file():
        raise UsageError(f"no case {case!r}: `conformance manifest` lists them in cases/manifest.txt")
    asked = {"stack": stack, "device": device, "folder": str(folder.resolve())}
    found = call_in_child(f"{__name__}:run_and_write", {**asked, "case": case}, seconds)
    if isinstance(found, Ended):
        found = call_in_child(f"{__name__}:write_ended", {**asked, "ended": {case: str(found)}}, seconds)
        if isinstance(found, Ended):
            return ScriptOutcome(None, None, f"the case itself {found}")
        found = found.get(case)
    if found is None:
        raise UsageError(f"no case {case!r} that runs a program on {stack}, {device}")
    return ScriptOutcome(Path(found["path"]) if found["path"] else None, found["shows"], found["reason"])


class _Taker(AllCases):
    """A pytest plugin that runs one case and keeps its last run of a program, and what it failed with."""

    def __init__(self, case: str) -> None:
        self.case = case
        self.run: Any = None
        self.failure: CaseFailure | None = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.stash.get(CASE, None) == self.case][:1]

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.when == "call":
            runs = getattr(item.funcargs.get("stack"), "runs", None)
            error = call.excinfo.value if call.excinfo is not None else None
            self.failure = error if isinstance(error, CaseFailure) else None
            self.run = getattr(error, "run", None) or (runs[-1] if runs else None)


def run_and_write(case: str, stack: str, device: str, folder: str) -> dict[str, Any] | None:
    """Run one case and write the script of its last run of a program; None where there is no run."""
    taker = _Taker(case)
    file = cases_root() / case.partition("::")[0]
    with contextlib.redirect_stdout(io.StringIO()):
        run_cases(file, [f"--stack={stack}", f"--device={device}"], [taker])
    if taker.run is None:
        return None
    target, divergence = Target(taker.run.stack.name, device), taker.run.first_divergence()
    where = (case, target, Path(folder))
    return _json(write_script(taker.run, *where, failure=taker.failure, first_divergence=divergence))


def write_ended(
    ended: Mapping[str, str], stack: str, device: str, folder: str, limit: float = HUNG, run_it: bool = True
) -> dict[str, dict[str, Any]]:
    """Write the scripts of cases that ended the process, by case, without running them on the stack here.

    ``ended`` says of each case how it did; each script runs the stack in a child of its own, for ``limit`` seconds.
    """
    found: dict[str, dict[str, Any]] = {}
    files = {case.partition("::")[0] for case in ended}
    path = cases_root() / files.pop() if len(files) == 1 else cases_root()

    def seen(case: str, dry: DryStack, module: str, error: BaseException | None) -> None:
        target = Target(dry.name, device)
        if dry.taken is None:
            found[case] = _json(ScriptOutcome(None, None, str(error)))
            return
        told = (Discrepancy("crash", "", "returns", ended[case]),)
        subject = Subject(dry.stack, *dry.taken, device, told, in_child=limit, modules=(module,))
        try:
            path = write(subject, case, target, Path(folder))
        except ScriptError as trouble:
            found[case] = _json(ScriptOutcome(None, None, str(trouble)))
            return
        found[case] = _json(tried(path) if run_it else ScriptOutcome(path, None))

    look_at(path, stack, device, set(ended), seen)
    return found


def _json(outcome: ScriptOutcome) -> dict[str, Any]:
    path = str(outcome.path) if outcome.path is not None else None
    return {"path": path, "shows": outcome.shows, "reason": outcome.reason}
