"""What the scripts of known failures end with, release by release, as `benchmarks/scripts_measured.py` writes it."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from conformance.results.bugs import LedgerError

#: The file beside the ledgers, and the folder that holds the scripts.
MEASURED, SCRIPTS = "measured.json", "scripts"
CPU = "CPU"
FAILS, WORKS, NOT_RUN, UNCLEAR = "fails", "works", "needs CUDA; not measured here", "neither"


@dataclass(frozen=True)
class Outcome:
    """What one script ended with on one release of torch and one machine (a GPU's name, or ``CPU``)."""

    torch: str
    machine: str
    python: str
    platform: str
    status: int | None
    printed: str
    #: The exception that ended the script before it could say what it saw.
    error: str = ""

    @property
    def verdict(self) -> str:
        """Whether the script shows its fault; it does with status 1, and no exception may have ended it."""
        if self.status == 1 and not self.error:
            return FAILS
        return {0: WORKS, 2: NOT_RUN}.get(self.status, UNCLEAR) if self.status is not None else UNCLEAR

    @property
    def said(self) -> str:
        """What it printed, or how it ended instead."""
        if self.status is not None and self.status < 0:
            return f"ended by {signal.Signals(-self.status).name}"
        return self.error or self.printed


def measured(folder: Path) -> dict[str, list[Outcome]]:
    """The outcomes by the file names of scripts, oldest release first; refuses those of another text of a script."""
    file = folder / MEASURED
    try:
        runs = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LedgerError(f"{file}: no such file; benchmarks/scripts_measured.py writes it") from None
    except json.JSONDecodeError as error:
        raise LedgerError(f"{file}: not JSON: {error}") from error
    found: dict[str, list[Outcome]] = {}
    try:
        for run in sorted(runs, key=lambda run: (Version(run["torch"]), run["machine"], Version(run["python"]))):
            for name, one in run["outcomes"].items():
                _check_text(folder / SCRIPTS / name, one["sha256"])
                found.setdefault(name, []).append(_outcome(run, one))
    except (KeyError, TypeError, AttributeError) as error:
        raise LedgerError(f"{file}: not what benchmarks/scripts_measured.py writes: {error!r}") from error
    return found


def failing(folder: Path) -> dict[str, set[str]]:
    """The releases on whose CPU each script fails, by its file name; empty where nothing was measured."""
    found = measured(folder) if (folder / MEASURED).is_file() else {}
    return {
        name: {one.torch for one in outcomes if one.machine == CPU and one.verdict == FAILS}
        for name, outcomes in found.items()
    }


def _outcome(run: dict[str, Any], one: dict[str, Any]) -> Outcome:
    where = (run["torch"], run["machine"], run["python"], run["platform"])
    return Outcome(*where, one["status"], one["output"], one.get("error", ""))


def digest(script: Path) -> str:
    """What says that a script is still the text that was measured."""
    return hashlib.sha256(script.read_bytes()).hexdigest()


def _check_text(script: Path, sha256: str) -> None:
    if not script.is_file():
        raise LedgerError(f"{script}: no such file, and an outcome of it; run benchmarks/scripts_measured.py")
    if digest(script) != sha256:
        raise LedgerError(f"{script}: changed since it was measured; run benchmarks/scripts_measured.py")


def releases(outcomes: Sequence[Outcome], verdict: str) -> list[str]:
    """The releases with a verdict, each once; where it is one on a GPU's machine alone, with the GPU's name."""
    found = [one for one in outcomes if one.verdict == verdict]
    on_cpu = {one.torch for one in found if one.machine == CPU}
    return list(dict.fromkeys(one.torch + ("" if one.torch in on_cpu else f" ({one.machine})") for one in found))
