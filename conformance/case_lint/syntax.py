"""A case file as its syntax tree, and the questions that the rules ask of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """One broken rule at one line of a case file."""

    path: Path
    line: int
    rule: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.advice}"


@dataclass(frozen=True)
class CaseFile:
    """A parsed case file, with the test functions that it holds."""

    path: Path
    source: str
    tree: ast.Module
    tests: list[ast.FunctionDef] = field(default_factory=list)

    @classmethod
    def parse(cls, path: Path, source: str) -> CaseFile:
        tree = ast.parse(source, filename=str(path))
        tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        return cls(path, source, tree, tests)

    @property
    def area(self) -> str:
        return self.path.parent.name


def dotted(node: ast.AST) -> str:
    """The dotted name that an expression spells, or '' when it is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def calls(root: ast.AST, method: str) -> list[ast.Call]:
    """The calls of a method of that name, whatever object it is called on."""
    return [
        node
        for node in ast.walk(root)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]


def imported_modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every module that the file imports, wherever the import stands; a relative one keeps its dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"
