"""Which frame of a stack trace its reader looks at first, and how a file is named that lies on one machine only."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.contract.catalog import CatalogError, cases_root

_STDLIB = sysconfig.get_path("stdlib") + os.sep
_OURS = str(Path(__file__).parents[1]) + os.sep
#: Packages that torch is made of or built on: what a stack raises through them is not theirs.
_BELOW = re.compile(r"/(site|dist)-packages/(torch|torchgen|functorch|sympy|numpy|conformance)/")
#: A module that inductor wrote, by the hash of what it holds: another one for every program.
_WRITTEN = re.compile(r"/c[a-z2-7]{51}\.py$")
#: Where packages are installed, as a message names it.
_INSTALLED = re.compile(r"[^\s\"'`(),:;=<>\[\]]*/(?:site|dist)-packages/")


def first_to_read(files: Sequence[str]) -> int | None:
    """The index of the frame to name, by the files of the frames, the innermost first; None where there are none.

    A backend may lie in a checkout of its author's or be installed. Where none of its frames is left, it is the
    innermost one of an installed package, which is torch's mostly.
    """
    ours = (_OURS, f"{_cases()}{os.sep}", "<")
    others = [number for number, file in enumerate(files) if not file.startswith(ours) and not _WRITTEN.search(file)]
    installed = [number for number in others if "-packages/" in files[number]]
    checkout = [number for number in others if number not in installed and not files[number].startswith(_STDLIB)]
    torch = [number for number in checkout if f"{os.sep}torch{os.sep}" in files[number]]
    own = [number for number in installed if not _BELOW.search(files[number])]
    chosen = [*(number for number in checkout if number not in torch), *own]
    return min(chosen, default=next(iter([*installed, *torch]), None))


def shown(file: str) -> str:
    """The file of a frame: as it is installed, or its name alone where it lies anywhere else."""
    return file.rpartition("-packages/")[2] if "-packages/" in file else Path(file).name


def without_machine_paths(text: str) -> str:
    """The text with files as a module's reader knows them, `torch/_ops.py`, wherever this machine has them.

    What lies in no folder that Python imports from is left as it is, but for temporary files, which have their names.
    """
    if "/" not in text:
        return text
    text = _INSTALLED.sub("", text)
    folders = {str(Path(folder or ".").resolve()) for folder in (*sys.path, os.getcwd(), str(Path(_OURS).parent))}
    for folder in sorted(folders - {os.sep, tempfile.gettempdir()}, key=len, reverse=True):
        text = re.sub(rf"(?<![\w./-]){re.escape(folder)}/", "", text)
    temporary = re.escape(tempfile.gettempdir())
    return re.sub(rf"(?<![\w./-]){temporary}/(?:[\w.+~-]+/)*(?=[\w.+~-])", ".../", text)


def _cases() -> str:
    try:
        return str(cases_root())
    except CatalogError:
        return "<no cases>"
