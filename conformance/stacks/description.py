"""Descriptions of stacks as TOML files: somebody's own, and those that ship, which are found by name."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.contract.capabilities import CAPABILITIES
from conformance.contract.registry import nearest
from conformance.oracle.compare_values import Tolerance
from conformance.stacks.base import ASSUMED, Stack
from conformance.stacks.config import StackError
from conformance.stacks.external import from_callable, registered_backends

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = {"name", "backend", "imports", "capabilities", "denied", "config", "options", "tolerance", "install"}
#: Those that ship; each file is named after its stack.
FOLDER = Path(__file__).parent / "descriptions"


def shipped() -> dict[str, Stack]:
    """The stacks whose descriptions ship with the suite, by name; `ready` makes one of them ready to run."""
    return {file.stem: read(str(file)) for file in sorted(FOLDER.glob("*.toml"))}


def read(path: str) -> Stack:
    """The stack that a TOML file describes, its backend as text; every mistake in the file is one line.

    Nothing is imported, so that a stack can be listed whose package is not installed.
    """
    file = Path(path)
    if not file.is_file():
        raise StackError(f"no stack description at {path}")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StackError(f"{path}: not TOML: {error}") from error
    unknown = sorted(set(table) - KEYS)
    if unknown:
        raise StackError(f"{path}: unknown key {unknown[0]!r}; known: {', '.join(sorted(KEYS))}")
    for key in ("name", "backend"):
        if not isinstance(table.get(key), str):
            raise StackError(f"{path}: {key} must be given, as text")
    capabilities = table.get("capabilities", sorted(ASSUMED))
    for capability in (*capabilities, *table.get("denied", ())):
        if capability not in CAPABILITIES:
            raise StackError(f"{path}: unknown capability {capability!r}; {nearest(capability, CAPABILITIES)}")
    try:
        tolerance = Tolerance(**table.get("tolerance", {}))
    except TypeError as error:
        raise StackError(f"{path}: tolerance takes factor and floor") from error
    return Stack(
        table["name"],
        table["backend"],
        frozenset(capabilities) | {"compile"},
        config=table.get("config", {}),
        imports=tuple(table.get("imports", ())),
        options=table.get("options", {}),
        tolerance=tolerance,
        spec=table["backend"],
        described="capabilities" in table,
        denied=table.get("denied", {}),
        install=table.get("install", ""),
    )


def ready(stack: Stack, path: str) -> Stack:
    """The stack that was read from a file, with its modules imported and its backend looked up."""
    for name in stack.imports:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise _lacks(stack, path, f"cannot import {name!r}: {error}") from error
    if ":" in stack.spec:
        try:
            return replace(stack, backend=from_callable(stack.spec).backend)
        except StackError as error:
            raise _lacks(stack, path, str(error)) from error
    if stack.spec not in registered_backends():
        raise _lacks(stack, path, f"no backend {stack.spec!r}; {nearest(stack.spec, registered_backends())}")
    return stack


def _lacks(stack: Stack, path: str, told: str) -> StackError:
    if stack.install:
        return StackError(f"the stack {stack.name} cannot be used here: {told}; what it needs: {stack.install}")
    return StackError(f"{path}: {told}")


def description_text(stack: Stack, answers: Iterable[Mapping[str, Any]]) -> str:
    """A TOML description of the stack with the capabilities that a search found, which `read` reads."""
    found = list(answers)
    name = re.sub(r"[^A-Za-z0-9_.-]+", ".", stack.name)
    backend = stack.backend if isinstance(stack.backend, str) and not stack.spec else stack.spec
    lines = [f"name = {_toml(name)}", f"backend = {_toml(backend)}"]
    if stack.imports:
        lines.append(f"imports = {_toml(list(stack.imports))}")
    lines += ["capabilities = [", *(f"    {_toml(one['capability'])}," for one in found if one["holds"]), "]"]
    denied = {one["capability"]: one["seen"] for one in found if not one["holds"]}
    for table, values in (("config", stack.config), ("options", stack.options), ("denied", denied)):
        if values:
            lines += ["", f"[{table}]", *(f"{_key(key)} = {_toml(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any) -> str:
    """A value of a description as TOML, which takes texts, numbers and lists as JSON does."""
    return json.dumps(value, ensure_ascii=False)
