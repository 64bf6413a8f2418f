"""The source that names need: the top-level statements of their modules that they reach, without this project."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

#: Modules whose names stand in case files and not in scripts; what functions need of the first is pasted.
OURS, TESTING = "conformance", ("pytest", "hypothesis")


class ScriptError(ValueError):
    """No script can be written; the message says why in one line."""


class Sources:
    """Collects statements by module; ``expression`` makes a value into source, for what is no plain text."""

    def __init__(self, expression: Callable[[Any], str]) -> None:
        self.expression = expression
        self.imports: dict[str, None] = {}
        self._taken: dict[str, dict[int, str]] = {}
        self._done: set[tuple[str, str]] = set()

    def need(self, module: ModuleType, name: str) -> None:
        """Take the statements that bind a name of a module, and all that they use."""
        if (module.__name__, name) in self._done:
            return
        self._done.add((module.__name__, name))
        statements = _statements(module)
        if module.__name__ not in self._taken and _origin(module.__name__) != OURS:
            self._taken[module.__name__] = {}
            for index, node in enumerate(statements):
                # Statements that only act (a library that defines an operator) are reached by no name.
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _outside(module, node):
                    self._take(module, index, node, None)
        for index, node in enumerate(statements):
            if name in bound(node):
                self._take(module, index, node, name)

    def _take(self, module: ModuleType, index: int, node: ast.stmt, name: str | None) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert name is not None
            self._import(module, index, node, name)
            return
        taken = self._taken.setdefault(module.__name__, {})
        if index in taken:
            return
        taken[index] = ""
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and name is not None and _outside(module, node):
            taken[index] = f"{name} = {self.expression(getattr(module, name))}"
            return
        for other in used(node, [one for one in decorators(node) if not _outside(module, one)]):
            self.need(module, other)
        taken[index] = _text(module, node)

    def _import(self, module: ModuleType, index: int, node: ast.Import | ast.ImportFrom, name: str) -> None:
        origin = _origin(getattr(node, "module", None) or node.names[0].name)
        if origin == OURS:
            value = getattr(module, name)
            text = self.expression(value)
            if text != name:
                self._taken.setdefault(module.__name__, {})[index] = f"{name} = {text}"
        elif origin not in TESTING and origin != "__future__":
            for alias in node.names:
                if (alias.asname or alias.name).split(".")[0] == name:
                    told = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                    source = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
                    self.imports[f"{source}import {told}"] = None

    @property
    def modules(self) -> set[str]:
        """The modules that something was taken from, this project's apart."""
        return {name for name in self._taken if _origin(name) != OURS}

    @property
    def postponed(self) -> bool:
        """Whether annotations are text in the modules that something was taken from."""
        futures = (node for name in self.modules for node in _statements(sys.modules[name]))
        return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in futures)

    def names_in(self, text: str) -> list[str]:
        """The names that a piece of source reads."""
        return used(ast.parse(text))

    def bound_names(self) -> set[str]:
        """The top-level names of what was taken."""
        return set().union(*(bound(node) for node in ast.parse(self.text()).body))

    def text(self) -> str:
        """The statements, those of this project first, since the others build on them."""
        modules = sorted(self._taken, key=lambda name: _origin(name) != OURS)
        found = [self._taken[name][index] for name in modules for index in sorted(self._taken[name])]
        return "\n\n\n".join(filter(None, found))


def _origin(module: str) -> str:
    return module.partition(".")[0]


@cache
def source_text(module: ModuleType) -> str:
    file = inspect.getsourcefile(module)
    if file is None:
        raise ScriptError(f"the source of {module.__name__} is not to be had")
    return Path(file).read_text(encoding="utf-8")


@cache
def _statements(module: ModuleType) -> list[ast.stmt]:
    return ast.parse(source_text(module)).body


def _outside(module: ModuleType, node: ast.AST) -> bool:
    """Whether a statement uses what only a test or this project has."""
    for name in used(node):
        value = getattr(module, name, None)
        origin = _origin(value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", "")))
        if origin in (OURS, *TESTING) and _origin(module.__name__) != OURS:
            return True
    return False


def _text(module: ModuleType, node: ast.stmt) -> str:
    if _origin(module.__name__) == OURS:
        return ast.unparse(_Unannotated().visit(ast.parse(ast.unparse(node))))
    lines = source_text(module).splitlines()
    kept = [one for one in decorators(node) if not _outside(module, one)]
    told = ["\n".join(lines[one.lineno - 1 : one.end_lineno]) for one in kept]
    return "\n".join([*told, *lines[node.lineno - 1 : node.end_lineno]])


class _Unannotated(ast.NodeTransformer):
    """Leaves out the types of this project's functions, which would need more of it."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        arguments = node.args
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if one is not None:
                one.annotation = None
        node.returns = None
        self.generic_visit(node)
        return node


def decorators(node: ast.AST) -> list[ast.expr]:
    return list(getattr(node, "decorator_list", []))


def bound(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds or, by a decorator (``@op.register_fake``), completes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        about = {name for one in decorators(node) if isinstance(one, (ast.Attribute, ast.Call)) for name in _about(one)}
        return {node.name, *about}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    inner = [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
    own = {part for one in ast.walk(node) if isinstance(one, ast.comprehension) for part in ast.walk(one.target)}
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    found = {part.id for part in names if part not in own}
    return found.union(*(bound(child) for child in inner))


def _about(decorator: ast.expr) -> list[str]:
    """What a decorator completes: ``op`` in ``@op.register_fake`` and in ``@torch.library.impl(op)``."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    acting = used(function) if isinstance(function, ast.Attribute) else []
    of_torch = used(decorator) if acting == ["torch"] else acting
    return [name for name in of_torch if name not in sys.modules]


def used(node: ast.AST, kept: list[ast.expr] | None = None) -> list[str]:
    """The names that a statement reads, those of its decorators as far as they are kept."""
    found = {
        part.id: None for part in _walk(node, kept) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }
    return list(found)


def _walk(node: ast.AST, kept: list[ast.expr] | None) -> Iterator[ast.AST]:
    dropped = [one for one in decorators(node) if kept is not None and one not in kept]
    pending: list[ast.AST] = [node]
    while pending:
        one = pending.pop()
        yield one
        pending += [child for child in ast.iter_child_nodes(one) if child not in dropped]


def module_of(value: Any) -> ModuleType | None:
    return sys.modules.get(str(getattr(value, "__module__", "")))


def source_within(function: Any) -> tuple[str, bool]:
    """The source of a function defined inside another or as a lambda, and whether it is a lambda."""
    module = module_of(function)
    if module is None:
        raise ScriptError(f"{function!r} is of no module: its source is not to be had")
    text, code = source_text(module), function.__code__
    found: list[tuple[str, bool]] = []
    for node in ast.walk(ast.parse(text)):
        first = min([getattr(node, "lineno", -1), *(one.lineno for one in decorators(node))])
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            segment = ast.get_source_segment(text, node) or ""
            if _same(compile(f"{_imports(module)}\n({segment})", "", "exec").co_consts, code) or code.co_freevars:
                found.append((" ".join(line.strip() for line in segment.splitlines()), True))
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name and first == code.co_firstlineno:
            found.append((textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno])), False))
    if not found:
        raise ScriptError(f"{function.__qualname__} of {module.__name__}: its source is not found")
    return found[0]


@cache
def _imports(module: ModuleType) -> str:
    """The imports of a module: the methods of what is imported are called by other instructions."""
    imports = [node for node in _statements(module) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "\n".join(ast.unparse(node) for node in imports if getattr(node, "module", "") != "__future__")


def _same(constants: tuple[Any, ...], code: Any) -> bool:
    made = next((one for one in constants if hasattr(one, "co_code")), None)
    if made is None or made.co_code != code.co_code or made.co_names != code.co_names:
        return False
    plain = [[one for one in each.co_consts if not hasattr(one, "co_code")] for each in (made, code)]
    return repr(plain[0]) == repr(plain[1]) and made.co_varnames == code.co_varnames
