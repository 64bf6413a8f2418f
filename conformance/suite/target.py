"""What a case is run on, a stack and a device by name, and how a pytest id names both."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from conformance.contract.registry import AREAS


@dataclass(frozen=True)
class Target:
    """A stack on a device, as it stands in brackets in a pytest id."""

    stack: str
    device: str

    def __str__(self) -> str:
        return f"{self.stack}-{self.device}"


def case_id(nodeid: str, base: PurePath, targets: Iterable[Target]) -> tuple[str, Target | None]:
    """A case's id, ``area/file.py::name[own parameters]``, and its target, from a pytest id relative to ``base``."""
    path, _, name = nodeid.partition("::")
    parts = PurePath(os.path.normpath(base / path)).parts
    start = max((number for number, part in enumerate(parts[:-1]) if part in AREAS), default=None)
    path = path if start is None else "/".join(parts[start:])
    function, bracket, parameters = name.partition("[")
    if bracket:
        parameters = parameters.removesuffix("]")
        # The longest first: one stack's name may begin another's.
        for target in sorted(targets, key=lambda target: -len(str(target))):
            text = str(target)
            if parameters == text:
                return f"{path}::{function}", target
            if parameters.startswith(f"{text}-"):
                return f"{path}::{function}[{parameters[len(text) + 1 :]}]", target
    return f"{path}::{name}", None
