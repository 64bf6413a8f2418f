"""Scripts of failing runs as files: written, and run once, so that what does not show its difference says so."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.contract.failure import CaseFailure, Discrepancy
from conformance.program.sources import ScriptError
from conformance.standalone.script import Subject, script_of

#: Seconds that a script may take, torch's import and a first compilation included.
SECONDS = 180.0
#: Where the ways of failing whose script was run are marked, so that the workers of a run share them.
MARKS = ".shown"


@dataclass(frozen=True)
class ScriptOutcome:
    """A script that was written, or why there is none; ``shows`` is None where it was not run."""

    path: Path | None
    shows: bool | None
    reason: str = ""

    def __str__(self) -> str:
        if self.path is None:
            return f"none: {self.reason}"
        return f"{self.path} (does not show the difference: {self.reason})" if self.shows is False else str(self.path)


def script_name(case: str, target: Any) -> str:
    """The file of a failure's stand-alone script in ``failures/``."""
    return re.sub(r"[^A-Za-z0-9_]+", ".", f"{case}.{target.stack}.{target.device}").strip(".") + ".py"


def write_script(
    run: Any,
    case: str,
    target: Any,
    folder: Path,
    *,
    failure: CaseFailure | None = None,
    first_divergence: str | None = None,
    always: bool = False,
) -> ScriptOutcome:
    """Write the script of a failing run into ``folder``, and run it where no script of a failure like it was.

    ``target`` has the names of a stack and a device; ``failure`` is what the case raised, where that is not that the
    run differs from eager. Workers may write into one folder at the same time.
    """
    found = tuple(failure.discrepancies) if failure is not None else run.comparison.discrepancies
    try:
        subject = Subject(run.stack, run.program, run.calls, run.device, found, first_divergence)
        path = write(subject, case, target, folder)
    except ScriptError as error:
        return ScriptOutcome(None, None, str(error))
    if failure is not None and not found:
        return _not_shown(path, f"what differs is a text that the case expects ({failure.phase})")
    if not always and not first_of_its_kind(folder, signature(run, case, found)):
        return ScriptOutcome(path, None, "not run: a script of a failure like this one was")
    return tried(path)


def write(subject: Subject, case: str, target: Any, folder: Path) -> Path:
    """Write a script without running it."""
    text = script_of(subject, title=case, folder=folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / script_name(case, target)
    path.write_text(text, encoding="utf-8")
    return path


def tried(path: Path, seconds: float = SECONDS) -> ScriptOutcome:
    """Run a script as a reader would; one that does not show its difference says so in its first line."""
    try:
        done = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return _not_shown(path, f"no end within {seconds:g} s")
    if done.returncode == 1:
        return ScriptOutcome(path, True)
    last = next(reversed(done.stdout.strip().splitlines()), "")
    if done.returncode not in (0, 2) or not last:
        last = f"it ends with exit status {done.returncode}"
    return _not_shown(path, last)


def _not_shown(path: Path, reason: str) -> ScriptOutcome:
    text = path.read_text(encoding="utf-8")
    path.write_text(f"# does not show the difference: {' '.join(reason.split())}\n{text}", encoding="utf-8")
    return ScriptOutcome(path, False, reason)


def signature(run: Any, case: str, found: Iterable[Discrepancy]) -> str:
    """What failures have in common whose scripts show the same: area, phase, exception and what is observed."""
    comparison = run.comparison
    observables = ",".join(sorted({one.observable for one in found}))
    return f"{case.partition('/')[0]} {run.stack.name} {comparison.phase} {comparison.exception} {observables}"


def first_of_its_kind(folder: Path, told: str) -> bool:
    """Whether no worker of this run has run a script of such a failure."""
    marks = folder / MARKS
    marks.mkdir(parents=True, exist_ok=True)
    of_this_run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    try:
        (marks / hashlib.sha256(f"{of_this_run} {told}".encode()).hexdigest()[:16]).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
