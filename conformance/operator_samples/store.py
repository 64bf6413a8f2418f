"""The kept samples of the running torch release: made once, in a folder for each release, and loaded from there."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from conformance.operator_samples.database import ERRORS, SEED
from conformance.operator_samples.sample import Sample

#: Counts up when other samples are chosen from the database.
VERSION = 3


class DatabaseError(RuntimeError):
    """Torch's database could not be read; the message ends with what its process said last."""


def folder() -> Path:
    """Where the samples of this release lie: below ``XDG_CACHE_HOME``, or ``~/.cache``."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "conformance" / "operators" / f"torch-{torch.__version__}-seed-{SEED}-{VERSION}"


def make(kinds: Sequence[str], operators: Sequence[str] | None, missing: Path | None = None) -> None:
    """Make what is not there yet: dtypes (or ``errors``) of these operators, of all where None are named.

    To read the database takes a minute of a processor, so that a mark says which kinds of all operators are there, and
    one process at a time reads it: a worker that has waited for another finds the file that it is ``missing``.
    """
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make(kinds, operators, missing)


def _make(kinds: Sequence[str], operators: Sequence[str] | None, missing: Path | None) -> None:
    marks = [folder() / f"all-{kind}" for kind in kinds] if operators is None else []
    if (marks and all(mark.is_file() for mark in marks)) or (missing is not None and missing.is_file()):
        return
    count = processes() if operators is None else 1
    order = {"folder": str(folder()), "kinds": list(kinds), "operators": operators}
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(_read, [{**order, "share": [number, count]} for number in range(count)]))
    for mark in marks:
        mark.touch()


def _read(order: Mapping[str, Any]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "conformance.operator_samples.database"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    if ran.returncode:
        said = (ran.stderr.strip().splitlines() or ["nothing"])[-1]
        raise DatabaseError(f"torch's operator database cannot be read: {said}")


def processes() -> int:
    """How many processes read the database for all operators: the samples of all take minutes of a processor."""
    return min(8, os.cpu_count() or 1)


@functools.cache
def index() -> dict[str, Any]:
    """What this release has, by operator: ``dtypes``, ``gradients``, ``errors``, ``in_place``, ``out``."""
    file = folder() / "index.json"
    if not file.is_file():
        make([], [], file)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def samples(operator: str, kind: str, among: Sequence[str] | None, kinds: Sequence[str]) -> list[Sample]:
    """The samples of an operator in a dtype, or its ``errors``; none where this release lacks the operator.

    Where they are missing, ``kinds`` of all of ``among`` are made at once: to read the database takes seconds.
    """
    file = folder() / f"{operator}-{kind}.pt"
    if not file.is_file():
        make([*{kind, *kinds}], list(among) if among is not None else None, file)
    if not file.is_file():
        return []
    found: list[Sample] = torch.load(file, weights_only=False)
    return found


__all__ = ["ERRORS", "DatabaseError", "folder", "index", "make", "samples"]
