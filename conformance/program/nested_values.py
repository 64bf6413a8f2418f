"""Walk nested Python values: leaves with readable paths, and the structure without the leaves."""

from __future__ import annotations

import collections
import dataclasses
import enum
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.layout, slice, range)
OPAQUE = frozenset({"torch", "torchgen", "numpy", "triton", "_pytest", "pytest"})


class _Walk:
    """The containers that are open on the way down, and those known to contain themselves.

    A container that contains itself is gone into once in a walk: the ways through many that contain each other are
    without number.
    """

    def __init__(self) -> None:
        self._open: list[int] = []
        self._cyclic: set[int] = set()

    def ends_at(self, value: Any) -> bool:
        """Whether there is nothing new below a value."""
        here = id(value)
        if here in self._open:
            self._cyclic.update(self._open[self._open.index(here) :])
        return here in self._cyclic

    def below(self, value: Any) -> Iterator[tuple[str, Any]]:
        """The children, while the value is open."""
        self._open.append(id(value))
        yield from children(value)
        self._open.pop()


def leaves(value: Any, path: str, _walk: _Walk | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (path, leaf) for every leaf below ``value``; containers that contain themselves are gone into once."""
    walk = _walk or _Walk()
    if not is_container(value):
        yield path, value
    elif not walk.ends_at(value):
        for key, child in walk.below(value):
            yield from leaves(child, path + key, walk)


def children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"[{key!r}]", child
    elif isinstance(value, (list, tuple, collections.deque)):
        names = getattr(value, "_fields", None)
        for index, child in enumerate(value):
            yield (f".{names[index]}" if names else f"[{index}]"), child
    elif isinstance(value, (set, frozenset)):
        for index, child in enumerate(sorted(value, key=repr)):
            yield f"{{{index}}}", child
    elif isinstance(value, torch.nn.Module):
        yield from _attributes({**value._parameters, **value._buffers, **value._modules, **plain_attributes(value)})
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _attributes({field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)})
    elif is_object(value):
        yield from _attributes(vars(value))


def _attributes(attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, child in attributes.items():
        yield f".{name}", child


def is_container(value: Any) -> bool:
    if isinstance(value, (dict, list, tuple, set, frozenset, collections.deque, torch.nn.Module)):
        return True
    return (dataclasses.is_dataclass(value) and not isinstance(value, type)) or is_object(value)


def is_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's, not one of Python's, torch's or a compiler's."""
    if isinstance(value, types.SimpleNamespace):
        return True
    origin = type(value).__module__.partition(".")[0]
    return origin not in OPAQUE and origin not in sys.stdlib_module_names and _has_attributes(value)


def _has_attributes(value: Any) -> bool:
    own = isinstance(value, (type, torch.Tensor, enum.Enum, types.FunctionType, types.ModuleType))
    return not own and isinstance(getattr(value, "__dict__", None), dict)


#: Bookkeeping of torch's, the mark that torch.compile leaves on a module included.
MODULE_INTERNALS = frozenset(vars(torch.nn.Module())) | {
    "forward",
    "_compiled_call_impl",
    "_flat_weight_refs",
    "_is_torch_compile",
}


def plain_attributes(module: torch.nn.Module) -> dict[str, Any]:
    """What a module holds besides parameters, buffers, modules and torch's own bookkeeping; its training flag too."""
    found = {name: value for name, value in vars(module).items() if name not in MODULE_INTERNALS}
    return {**found, "training": module.training}


def outline(value: Any, _walk: _Walk | None = None) -> str:
    """The structure with every leaf written as ``*``: container types, keys in order, lengths."""
    walk = _walk or _Walk()
    if not is_container(value):
        return "*"
    if walk.ends_at(value):
        return "..."
    parts = [f"{key}={outline(child, walk)}" for key, child in walk.below(value)]
    return f"{type(value).__name__}({', '.join(parts)})"


def plain(value: Any) -> Any:
    """A comparable stand-in for a leaf that is not a tensor: the value where it has one, else its type."""
    if isinstance(value, (*SCALARS, enum.Enum)):
        return (type(value).__name__, repr(value))
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return (type(value).__name__, "symbolic")
    if type(value).__module__ == "numpy":
        return (f"numpy.{type(value).__name__}", repr(value))
    return (f"{type(value).__module__}.{type(value).__qualname__}", "")
