"""Mutants in what is guarded besides tensors: a global, an attribute, a hook, a number that may change unseen."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

from torch._dynamo import guards

from conformance.mutants.base import patching


def _without(unguarded: Callable[[str, Any], bool]) -> AbstractContextManager[Any]:
    """No guard on what ``unguarded(name, entry)`` is true of; the name is the place that the guard reads."""
    manager: Any = guards.CheckFunctionManager
    original = manager.__init__
    signature = inspect.signature(original)

    def kept(entries: Sequence[Any]) -> list[bool]:
        return [not unguarded(_place(entry), entry) for entry in entries]

    def init(*args: Any, **options: Any) -> None:
        bound = signature.bind(*args, **options)
        bound.arguments["guard_filter_fn"] = kept
        original(*bound.args, **bound.kwargs)

    return mock.patch.object(manager, "__init__", init)


def _place(entry: Any) -> str:
    name = entry.orig_guard.originating_source.name
    return str(name() if callable(name) else name)


def _below(*starts: str) -> Callable[[str, Any], bool]:
    return lambda place, entry: place.startswith(starts)


def _within(*parts: str) -> Callable[[str, Any], bool]:
    return lambda place, entry: any(part in place for part in parts)


def _number(kind: type) -> Callable[[str, Any], bool]:
    return lambda place, entry: place == "L['n']" and entry.has_value and type(entry.value) is kind


@patching("guards.globals.replaced")
def globals_read_once() -> Iterator[None]:
    """Nothing guards what globals hold."""
    with _without(_below("G[")):
        yield


@patching("guards.closures.replaced")
def closures_read_once() -> Iterator[None]:
    """Nothing guards what the closures of called functions hold."""
    with _without(_within("__closure__", "L['cell']", "L['chosen']")):
        yield


@patching("guards.defaults.replaced")
def defaults_read_once() -> Iterator[None]:
    """Nothing guards the defaults of called functions."""
    with _without(_within("__defaults__", "__kwdefaults__")):
        yield


@patching("guards.attributes.of_objects")
def attributes_of_objects_unguarded() -> Iterator[None]:
    """Nothing guards the attributes of objects that are passed."""
    with _without(_below("L['held'].", "L['held']")):
        yield


@patching("guards.attributes.of_classes")
def attributes_of_classes_unguarded() -> Iterator[None]:
    """Nothing guards what classes hold."""
    with _without(_within("Settings", "type(", "__mro__", "__class__")):
        yield


@patching("guards.attributes.of_modules")
def attributes_of_modules_unguarded() -> Iterator[None]:
    """Nothing guards the attributes of modules."""
    with _without(_below("L['self']")):
        yield


@patching("guards.code.function_replaced")
def functions_unguarded() -> Iterator[None]:
    """Nothing guards which function, method or code stands under a name."""
    with _without(_within("L['tool']", "L['Tool']", "L['chosen']", "__code__", ".forward")):
        yield


@patching("guards.code.code_replaced")
def code_unguarded() -> Iterator[None]:
    """Nothing guards the code of functions."""
    with _without(
        lambda place, entry: "__code__" in place or "CODE" in entry.guard_type or "CLOSURE" in entry.guard_type
    ):
        yield


@patching("guards.code.closure_replaced")
def functions_told_apart_by_code() -> Iterator[None]:
    """Nothing guards what is behind a function that is passed."""
    with _without(_below("L['function']")):
        yield


@patching("guards.modules.mode")
def training_unguarded() -> Iterator[None]:
    """Nothing guards whether a module is in training."""
    with _without(_within("training")):
        yield


@patching("guards.modules.tensors_replaced")
def parameters_unguarded() -> Iterator[None]:
    """Nothing guards the properties of parameters and buffers."""
    with _without(_within("_parameters", "_buffers")):
        yield


@patching("guards.modules.parts_replaced")
def parts_unguarded() -> Iterator[None]:
    """Nothing guards which modules a module has."""
    with _without(_within("_modules", "layers")):
        yield


@patching("guards.modules.gradients")
def gradients_of_parameters_unguarded() -> Iterator[None]:
    """Nothing guards whether parameters require grad."""
    with _without(lambda place, entry: "_parameters" in place and "TENSOR" in entry.guard_type):
        yield


@patching("guards.modules.tied")
def ties_unguarded() -> Iterator[None]:
    """Nothing guards that two parameters are one."""
    with _without(lambda place, entry: entry.guard_type == "DUPLICATE_INPUT"):
        yield


@patching("guards.hooks.guarded")
def hooks_unguarded() -> Iterator[None]:
    """Nothing guards the hooks of modules."""
    with _without(_within("_hooks")):
        yield


@patching("guards.containers.changed")
def containers_unguarded() -> Iterator[None]:
    """Nothing guards what is in containers that are passed."""
    with _without(_below("L['held']", "list(L['held']")):
        yield


@patching("guards.containers.kinds_of_values")
def values_unguarded() -> Iterator[None]:
    """Nothing guards strings, enum members and types that are passed."""
    with _without(_below("L['value']")):
        yield


@patching("guards.numbers.integers")
def integers_unguarded() -> Iterator[None]:
    """Nothing guards integers that are passed."""
    with _without(_number(int)):
        yield


@patching("guards.numbers.kinds")
def bools_unguarded() -> Iterator[None]:
    """Nothing guards bools that are passed."""
    with _without(_number(bool)):
        yield


@patching("guards.numbers.floats")
def floats_unguarded() -> Iterator[None]:
    """Nothing guards floats that are passed."""
    with _without(_number(float)):
        yield


@patching("guards.shapes.ranks_and_sizes")
def shapes_of_the_first_unguarded() -> Iterator[None]:
    """Nothing guards the properties of the tensor x."""
    with _without(_below("L['x']")):
        yield


@patching("guards.shapes.equal_sizes")
def relations_of_sizes_unguarded() -> Iterator[None]:
    """Nothing guards how sizes relate to each other."""
    with _without(lambda place, entry: entry.guard_type == "SHAPE_ENV"):
        yield
