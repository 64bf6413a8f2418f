"""Stacks that are somebody's own: a registered backend, or a ``package.module:callable``."""

from __future__ import annotations

import importlib
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import torch._dynamo

from conformance.contract.registry import nearest
from conformance.stacks.base import ASSUMED, Stack
from conformance.stacks.config import StackError


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
        for entry in metadata.entry_points(group="torch_dynamo_backends", name=backend):
            if entry.dist is not None:
                return entry.dist.name, entry.dist.version
        from torch._dynamo.backends.registry import lookup_backend

        backend = lookup_backend(backend)
    top = str(getattr(backend, "__module__", None) or "torch").partition(".")[0]
    [package, *_] = metadata.packages_distributions().get(top, [top])
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        return package, None


def load(spec: str) -> Any:
    """What ``package.module:name`` names, or what it returns where ``()`` stands behind the name."""
    module_name, _, attribute = spec.removesuffix("()").partition(":")
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
    return found() if spec.endswith("()") else found
