"""What a program's code can reach besides its arguments: globals, closures, classes, objects; watched and put back."""

from __future__ import annotations

import dis
import enum
import functools
import inspect
import sys
import types
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from conformance.oracle.state.kept_values import (
    BOOKKEEPING,
    NOTHING,
    Kept,
    cell_undo,
    class_undo,
    contents_of,
    entry_undo,
    function_undo,
    is_array,
)
from conformance.program.nested_values import OPAQUE, SCALARS, children, is_container, is_object, plain_attributes

#: How many callables lie between the program and the last one that is followed.
DEEPEST = 6
STORE_GLOBAL = dis.opmap["STORE_GLOBAL"]


class Held(types.SimpleNamespace):
    """What a class, a function or a partial function holds of data, to be looked at like an object."""


def module_attributes(program: Any) -> dict[str, Any]:
    """Plain attributes of the program's modules, by name; parameters, buffers and torch's bookkeeping left out."""
    if not isinstance(program, torch.nn.Module):
        return {}
    return {
        f"{prefix}.{name}" if prefix else name: value
        for prefix, module in program.named_modules()
        for name, value in plain_attributes(module).items()
    }


class Watched:
    """All data that the code of the program and of the steps around it can reach, by a name for each place.

    Followed are functions, what they close over and default to, methods and the classes and objects that they belong
    to, partial and cached functions, and callables in containers; not followed is what torch, the standard library and
    installed packages define. A cache starts empty on each side.
    """

    def __init__(self, program: Any, steps: Iterable[Callable[..., Any] | None] = ()) -> None:
        self._read: dict[str, Callable[[], Any]] = {}
        self._put_back: list[Callable[[], None]] = []
        self._caches: list[Any] = []
        self._places: set[tuple[int, str]] = set()
        self._seen: dict[int, Any] = {}  # kept alive, so that an id names one object
        self._program = program
        self._home = {_origin(one).partition(".")[0] for one in (program, *steps) if one is not None}
        for one in (program, *steps):
            self._follow(one, getattr(one, "__name__", ""), 0)
        self._clear_caches()
        self._kept = Kept([read() for read in self._read.values()])

    def values(self) -> dict[str, Any]:
        """What every place holds now; classes and functions that hold no data are left out."""
        found = {label: read() for label, read in self._read.items()}
        return {label: value for label, value in found.items() if not isinstance(value, Held) or vars(value)}

    def restore(self) -> None:
        """Bring every watched place back to what it held, in the same objects, before the other side runs."""
        with _disable_current_modes():
            self._kept.restore()
        for put_back in self._put_back:
            put_back()
        self._clear_caches()

    def _clear_caches(self) -> None:
        for cache in self._caches:
            cache.cache_clear()

    def _data(self, label: str, read: Callable[[], Any], owner: str = "") -> None:
        if label in self._read:
            label = f"{label} of {owner}"
        self._read.setdefault(label, read)

    def _follow(self, value: Any, label: str, depth: int) -> None:
        """Go where a value's code leads: what is reached is watched, what is called there followed."""
        if depth > DEEPEST or id(value) in self._seen or isinstance(value, (*SCALARS, torch.Tensor)):
            return
        self._seen[id(value)] = value
        if isinstance(value, types.FunctionType):
            self._function(value, label, depth)
        elif isinstance(value, type):
            self._class(value, depth)
        elif isinstance(value, functools.partial):
            bound = (value.args, value.keywords)
            if any(map(is_container, (*value.args, *value.keywords.values()))):
                self._data(label, lambda: Held(args=bound[0], keywords=bound[1]))
            self._follow_all((value.func, *bound), label, depth)
        elif isinstance(value, types.MethodType):
            if is_container(value.__self__) and value.__self__ is not self._program:
                self._data(label if depth else "self", lambda: value.__self__)
            self._follow_all((value.__func__, value.__self__), label, depth)
        elif isinstance(value, property):
            self._follow_all((value.fget, value.fset, value.fdel), label, depth)
        elif isinstance(value, (staticmethod, classmethod, functools.cached_property)):
            self._follow(getattr(value, "__func__", None) or getattr(value, "func", None), label, depth + 1)
        elif callable(inspect.getattr_static(value, "cache_clear", None)) and self._is_followed(value):
            self._caches.append(value)
            self._follow(value.__wrapped__, label, depth + 1)
        elif isinstance(value, torch.nn.Module):
            for module in value.modules():
                self._follow(type(module), type(module).__name__, depth + 1)
                self._follow_all(plain_attributes(module).values(), label, depth)
        elif is_container(value):
            if is_object(value):
                self._follow(type(value), type(value).__name__, depth + 1)
            self._follow_all([child for _, child in children(value)], label, depth)
        elif hasattr(value, "__wrapped__"):
            self._follow(value.__wrapped__, label, depth + 1)

    def _follow_all(self, values: Iterable[Any], label: str, depth: int) -> None:
        for value in values:
            self._follow(value, label, depth + 1)

    def _function(self, function: types.FunctionType, label: str, depth: int) -> None:
        if not self._is_followed(function):
            self._follow(getattr(function, "__wrapped__", None), label, depth + 1)
            return
        self._put_back.append(function_undo(function))
        self._data(function.__name__, lambda: _own_data(function), function.__qualname__)
        self._follow_all((vars(function), function.__defaults__, function.__kwdefaults__), label, depth)
        names, space = set(_names(function.__code__)), function.__globals__
        for name in sorted(names & (space.keys() | set(_made_globals(function.__code__)))):
            self._entry(space, name, function, depth, names)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if (id(cell), name) not in self._places:
                self._places.add((id(cell), name))
                self._put_back.append(cell_undo(cell))
                self._reached(name, functools.partial(contents_of, cell), function, depth)

    def _entry(self, space: dict[str, Any], name: str, function: types.FunctionType, depth: int, names: Any) -> None:
        """A name that a function's code has, in a namespace: of its module, or of a module that it names."""
        if (id(space), name) in self._places:
            return
        self._places.add((id(space), name))
        value = space.get(name, NOTHING)
        if not isinstance(value, types.ModuleType):
            self._put_back.append(entry_undo(space, name))
            self._reached(name, lambda: space.get(name, NOTHING), function, depth)
        elif is_users_module(value.__name__, self._home) and depth < DEEPEST:
            for inner in sorted(names & vars(value).keys()):
                self._entry(vars(value), inner, function, depth + 1, names)

    def _reached(self, name: str, read: Callable[[], Any], function: types.FunctionType, depth: int) -> None:
        value = read()
        if value is self._program:
            return
        if _is_data(value):
            self._data(name, read, function.__qualname__)
        self._follow(value, name, depth + 1)

    def _class(self, owner: type, depth: int) -> None:
        for one in owner.__mro__:
            if issubclass(one, enum.Enum) or not is_users_module(one.__module__, self._home):
                continue
            self._seen[id(one)] = one
            self._put_back.append(class_undo(one))
            self._data(one.__name__, functools.partial(_class_data, one), one.__qualname__)
            self._follow_all(list(vars(one).values()), one.__name__, depth)

    def _is_followed(self, value: Any) -> bool:
        return is_users_module(_origin(value), self._home)


def is_users_module(module: str, home: Container[str] = ()) -> bool:
    """Whether a module is somebody's program, and not Python's, torch's or an installed package outside ``home``."""
    top = module.partition(".")[0]
    if top in OPAQUE or top in sys.stdlib_module_names:
        return top == "__main__"
    if top == "conformance":
        return module.startswith("conformance.cases")
    return top in home or "site-packages" not in (getattr(sys.modules.get(module), "__file__", None) or "")


def _origin(value: Any) -> str:
    """The module whose code a callable runs; a decorator copies the name of another module to what it returns."""
    space = getattr(value, "__globals__", None)
    module = space.get("__name__") if isinstance(space, dict) else getattr(value, "__module__", None)
    return module if isinstance(module, str) else type(value).__module__


def _class_data(owner: type) -> Held:
    data = {name: value for name, value in vars(owner).items() if not name.startswith(BOOKKEEPING)}
    return Held(**{name: value for name, value in data.items() if _is_data(value)})


def _own_data(function: types.FunctionType) -> Held:
    """A function's attributes, and those of its default arguments that can change."""
    data = {name: value for name, value in vars(function).items() if not name.startswith(BOOKKEEPING)}
    held = Held(**{name: value for name, value in data.items() if _is_data(value)})
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if any(isinstance(one, torch.Tensor) or is_container(one) for one in defaults):
        held.defaults = defaults
    return held


def _is_data(value: Any) -> bool:
    return isinstance(value, (*SCALARS, torch.Tensor)) or is_container(value) or is_array(value)


def _names(code: types.CodeType) -> Iterator[str]:
    for one in _codes(code):
        yield from one.co_names


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code, and that of the functions made in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _made_globals(code: types.CodeType) -> Iterator[str]:
    """The globals that the code assigns, which need not be there before."""
    for one in _codes(code):
        if STORE_GLOBAL in one.co_code[::2]:
            yield from (step.argval for step in dis.get_instructions(one) if step.opcode == STORE_GLOBAL)
