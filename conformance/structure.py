"""Walk nested Python values: leaves with readable paths, and the structure without the leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch

SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.layout, slice, range)


def leaves(value: Any, path: str, _open: frozenset[int] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Yield (path, leaf) for every leaf below ``value``; containers that contain themselves end there."""
    if id(value) in _open:
        return
    inside = _open | {id(value)}
    for key, child in children(value):
        yield from leaves(child, path + key, inside)
    if not is_container(value):
        yield path, value


def children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"[{key!r}]", child
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        for index, child in enumerate(value):
            yield (f".{names[index]}" if names else f"[{index}]"), child
    elif isinstance(value, (set, frozenset)):
        for index, child in enumerate(sorted(value, key=repr)):
            yield f"{{{index}}}", child
    elif _is_record(value):
        for name in [field.name for field in dataclasses.fields(value)]:
            yield f".{name}", getattr(value, name, None)


def is_container(value: Any) -> bool:
    return isinstance(value, (dict, list, tuple, set, frozenset)) or _is_record(value)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def outline(value: Any, _open: frozenset[int] = frozenset()) -> str:
    """The structure with every leaf written as ``*``: container types, keys in order, lengths."""
    if id(value) in _open:
        return "..."
    if not is_container(value):
        return "*"
    inside = _open | {id(value)}
    parts = [f"{key}={outline(child, inside)}" for key, child in children(value)]
    return f"{type(value).__name__}({', '.join(parts)})"


def plain(value: Any) -> Any:
    """A comparable stand-in for a leaf that is not a tensor: the value where it has one, else its type."""
    if isinstance(value, SCALARS):
        return (type(value).__name__, repr(value))
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return (type(value).__name__, "symbolic")
    if type(value).__module__ == "numpy":
        return (f"numpy.{type(value).__name__}", repr(value))
    return (f"{type(value).__module__}.{type(value).__qualname__}", "")
