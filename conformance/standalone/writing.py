"""Scripts of failing runs as files: written, and run once, so that what does not show its difference says so."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.contract.failure import CaseFailure
from conformance.program.sources import ScriptError
from conformance.standalone.script import Subject, script_of

#: Seconds that a script may take, torch's import and a first compilation included.
SECONDS = 180.0
#: Seconds for the scripts of a whole run.
TOGETHER = 300.0


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
    run_it: bool = True,
) -> ScriptOutcome:
    """Write the script of a failing run into ``folder``, and run it unless ``run_it`` is False.

    ``target`` has the names of a stack and a device; ``failure`` is what the case raised, where that is not that the
    run differs from eager. Workers may write into one folder at the same time; a case whose time is limited leaves
    running its script to `try_all`.
    """
    found = tuple(failure.discrepancies) if failure is not None else run.comparison.discrepancies
    try:
        parts = {name: (one.program, one.calls) for name, one in failure.parts.items()} if failure is not None else {}
        subject = Subject(run.stack, run.program, run.calls, run.device, found, first_divergence, parts=parts)
        path = write(subject, case, target, folder)
    except ScriptError as error:
        return ScriptOutcome(None, None, str(error))
    if failure is not None and not found:
        return _not_shown(path, f"what differs is a text that the case expects ({failure.phase})")
    return tried(path, {one.name for one in found}) if run_it else ScriptOutcome(path, None)


def write(subject: Subject, case: str, target: Any, folder: Path) -> Path:
    """Write a script without running it."""
    text = script_of(subject, title=case, folder=folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / script_name(case, target)
    path.write_text(text, encoding="utf-8")
    return path


def tried(path: Path, seen: Collection[str] = (), seconds: float = SECONDS) -> ScriptOutcome:
    """Run a script as a reader would; one that does not show all that was ``seen`` says so in its first line."""
    try:
        done = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return _not_shown(path, f"no end within {seconds:g} s")
    if done.returncode == 1:
        missing = sorted(set(seen) - names_told(done.stdout))
        return _not_shown(path, f"it shows no {', '.join(missing)}") if missing else ScriptOutcome(path, True)
    last = next(reversed(done.stdout.strip().splitlines()), "")
    if done.returncode not in (0, 2) or not last:
        last = f"it ends with exit status {done.returncode}"
    return _not_shown(path, last)


def names_told(output: str) -> set[str]:
    """The places and observables that a script says to differ."""
    return {line.partition(": ")[0] for line in output.splitlines() if ": " in line}


def _not_shown(path: Path, reason: str) -> ScriptOutcome:
    text = path.read_text(encoding="utf-8")
    path.write_text(f"# does not show the difference: {' '.join(reason.split())}\n{text}", encoding="utf-8")
    return ScriptOutcome(path, False, reason)


def try_all(scripts: Mapping[Path, Collection[str]], workers: int, ends: float) -> dict[Path, ScriptOutcome]:
    """Run scripts, some at once; each is to show what was seen.

    A stack that fails in many ways must not double the time of a run: what is not begun at ``ends``, on the monotonic
    clock, is left out.
    """

    def one(path: Path) -> ScriptOutcome:
        in_time = time.monotonic() < ends
        return tried(path, scripts[path]) if in_time else ScriptOutcome(path, None, "no time was left")

    with ThreadPoolExecutor(max(1, workers)) as pool:
        return dict(zip(scripts, pool.map(one, scripts), strict=True))
