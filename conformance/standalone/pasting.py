"""The part of a script that is the same in all of them, as text: the modules that are real ones here."""

from __future__ import annotations

import ast
import builtins
import re

from conformance.canonical import wrapped
from conformance.program.sources import OURS, bound, source_text
from conformance.standalone import differing, looking, observing, outliving, running, stepping

#: What runs in every script, in the order in which it is pasted.
RUNTIME = (wrapped, looking, stepping, outliving, observing, differing, running)


def order(line: str) -> tuple[bool, str]:
    """Where an import stands: plain ones first."""
    return line.startswith("from"), line


def renamed(name: str, taken: set[str]) -> str:
    """A name of the runtime in a script whose program has these names."""
    return f"{name}_" if name in taken else name


def runtime(taken: set[str]) -> tuple[set[str], str]:
    """The imports and the text of what runs in every script; a name that the program has as well gets an underscore.

    So does a builtin or a module whose name the program gives to something else.
    """
    imports: set[str] = set()
    pieces = []
    for module in RUNTIME:
        text = source_text(module)
        first = 0
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import):
                imports |= {ast.unparse(ast.Import([alias])) for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] not in (OURS, "__future__"):
                imports |= {ast.unparse(ast.ImportFrom(node.module, [alias], 0)) for alias in node.names}
            elif not isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_text(node):
                break
            first = node.end_lineno or first
        pieces.append("\n".join(text.splitlines()[first:]).strip())
    text = re.sub(r"  # type: ignore\[[\w-]+\]", "", "\n\n\n".join(pieces))
    built_in = (
        {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} & set(dir(builtins)) & taken
    )
    names = {name for node in ast.parse(text).body for name in bound(node)} & taken | built_in
    imported = {name: line for line in imports for name in bound(ast.parse(line).body[0]) & taken}
    names |= imported.keys()
    lines = [f"from builtins import {name} as {name}_" for name in built_in]
    lines += [f"{line} as {name}_" for name, line in imported.items()]
    kept = "\n".join(sorted(lines))
    return imports, "\n\n\n".join(filter(None, [kept, _with_underscores(text, names) if names else text]))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _with_underscores(text: str, names: set[str]) -> str:
    lines = [list(line.encode()) for line in text.splitlines()]
    places = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id in names:
            places.append((node.lineno, node.end_col_offset or 0))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names and node.col_offset == 0:
            start = len("def " if isinstance(node, ast.FunctionDef) else "class ")
            places.append((node.lineno, start + len(node.name)))
    for line, column in sorted(places, reverse=True):
        lines[line - 1][column:column] = b"_"
    return "\n".join(bytes(line).decode() for line in lines)
