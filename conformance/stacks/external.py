"""Stacks that are somebody's own: a registered backend, a ``package.module:callable``, a TOML description."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import torch._dynamo

from conformance.contract.capabilities import CAPABILITIES
from conformance.contract.registry import nearest
from conformance.oracle.compare_values import Tolerance
from conformance.stacks.base import ASSUMED, Stack
from conformance.stacks.config import StackError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = {"name", "backend", "imports", "capabilities", "config", "options", "tolerance"}


def registered_backends() -> list[str]:
    return sorted(torch._dynamo.list_backends(None))


def from_backend_name(name: str) -> Stack:
    return Stack(name, name, ASSUMED, described=False)


def from_callable(spec: str) -> Stack:
    """The stack around ``package.module:callable``; what is a `Stack` already is taken as it is."""
    found = load(spec)
    if isinstance(found, Stack):
        return found
    if not callable(found):
        raise StackError(f"{spec} is {type(found).__name__}, not a callable backend(graph_module, example_inputs)")
    return Stack(spec, found, ASSUMED, spec=spec, described=False)


def package_of(stack: Stack) -> tuple[str, str | None]:
    """The package that a stack's backend lies in and its version (None where it is not installed as a package)."""
    backend = stack.backend
    if isinstance(backend, str):
        from torch._dynamo.backends.registry import lookup_backend

        backend = lookup_backend(backend)
    top = str(getattr(backend, "__module__", None) or "torch").partition(".")[0]
    [package, *_] = metadata.packages_distributions().get(top, [top])
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        return package, None


def load(spec: str) -> Any:
    """What ``package.module:name`` names."""
    module_name, _, attribute = spec.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise StackError(f"cannot import {module_name!r} of the stack {spec!r}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in dir(found) if callable(getattr(found, name)) and not name.startswith("_")]
            raise StackError(f"{module_name} has no {part!r}; {nearest(part, public)}")
        found = getattr(found, part)
    return found


def from_toml(path: str) -> Stack:
    """The stack that a TOML file describes; every mistake in it is one line."""
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
    for capability in capabilities:
        if capability not in CAPABILITIES:
            raise StackError(f"{path}: unknown capability {capability!r}; {nearest(capability, CAPABILITIES)}")
    imports = tuple(table.get("imports", ()))
    for name in imports:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise StackError(f"{path}: cannot import {name!r}: {error}") from error
    backend: Any = table["backend"]
    if ":" in backend:
        backend = from_callable(backend).backend
    elif backend not in registered_backends():
        raise StackError(f"{path}: no backend {backend!r}; {nearest(backend, registered_backends())}")
    try:
        tolerance = Tolerance(**table.get("tolerance", {}))
    except TypeError as error:
        raise StackError(f"{path}: tolerance takes factor and floor") from error
    return Stack(
        table["name"],
        backend,
        frozenset(capabilities) | {"compile"},
        config=table.get("config", {}),
        imports=imports,
        options=table.get("options", {}),
        tolerance=tolerance,
        spec=table["backend"],
        described="capabilities" in table,
    )


def description(stack: Stack, capabilities: Iterable[str]) -> str:
    """A TOML description of the stack with these capabilities, which `from_toml` reads."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", ".", stack.name)
    backend = stack.backend if isinstance(stack.backend, str) and not stack.spec else stack.spec
    lines = [f"name = {json.dumps(name)}", f"backend = {json.dumps(backend)}"]
    if stack.imports:
        lines.append(f"imports = {json.dumps(list(stack.imports))}")
    lines += ["capabilities = [", *(f"    {json.dumps(one)}," for one in capabilities), "]"]
    for table in ("config", "options"):
        values: Mapping[str, Any] = getattr(stack, table)
        if values:
            lines += ["", f"[{table}]", *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"
