"""The source of functions and classes with whatever of their modules they need, for a script without this project."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any


class ScriptError(ValueError):
    """No script can be written; the message says why in one line."""


def name_of(value: Any) -> str:
    name: str = getattr(value, "__name__", "")
    if not name.isidentifier() or "<locals>" in getattr(value, "__qualname__", ""):
        raise ScriptError(f"{value!r} is not a function or class of its module's top level: no script can name it")
    return name


def source_of(needed: Iterable[Any]) -> str:
    """The top-level statements that the needed names reach, module by module, in their order."""
    by_module: dict[str, set[str]] = {}
    for one in needed:
        by_module.setdefault(one.__module__, set()).add(name_of(one))
    return "\n\n\n".join(_reachable(sys.modules[module], names) for module, names in by_module.items())


def _reachable(module: ModuleType, wanted: set[str]) -> str:
    file = inspect.getsourcefile(module)
    if file is None:
        raise ScriptError(f"the source of {module.__name__} is not to be had")
    text = Path(file).read_text(encoding="utf-8")
    lines = text.splitlines()
    statements = [(node, _bound(node), _used(node)) for node in ast.parse(text).body]
    # Statements that only act (a library that defines an operator) are reached by no name.
    taken = {index for index, (node, _, _) in enumerate(statements) if _acts(node)}
    pending = set(wanted).union(*(statements[index][2] for index in taken))
    while pending:
        name = pending.pop()
        for index, (_, bound, used) in enumerate(statements):
            if name in bound and index not in taken:
                taken.add(index)
                pending |= used
    parts = []
    for index in sorted(taken):
        node = statements[index][0]
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        parts.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n\n".join(part for part in parts if part != "import torch" and not part.startswith("from conformance"))


def _acts(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        # `@op.register_fake` is about `op`: whoever needs the operator needs the function
        return {node.name}.union(*(_used(one) for one in node.decorator_list)) - {"torch", "pytest"}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _used(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
