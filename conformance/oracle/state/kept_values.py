"""What mutable values hold, all the way down, kept to be put back into the same objects."""

from __future__ import annotations

import collections
import contextlib
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch

from conformance.program.nested_values import SCALARS, children, is_container, is_object

#: What torch and Python write into classes and functions for themselves.
BOOKKEEPING = ("__", "_torch", "_abc_")


class _Nothing:
    pass


#: What a name stands for that is not bound.
NOTHING = _Nothing()


class Kept:
    """The contents of containers, objects, arrays and tensors, to be put back into the same objects."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._undo: list[Callable[[], None]] = []
        self._objects: dict[int, Any] = {}  # kept alive, so that an id names one object
        for value in values:
            self._keep(value)

    def restore(self) -> None:
        for undo in self._undo:
            undo()

    def _keep(self, value: Any) -> None:
        if id(value) in self._objects or isinstance(value, SCALARS):
            return
        self._objects[id(value)] = value
        if isinstance(value, torch.Tensor):
            self._undo.append(_tensor_undo(value))
            if value.is_leaf and value.requires_grad and value.grad is not None:
                self._keep(value.grad)
        elif isinstance(value, dict):
            self._undo.append(functools.partial(_refill, value, dict(value)))
        elif isinstance(value, (list, collections.deque, set)):
            self._undo.append(functools.partial(_refill, value, list(value)))
        elif is_array(value):
            self._undo.append(functools.partial(_write, value, value.copy()))
        elif isinstance(value, torch.nn.Module):
            self._keep(vars(value))
            for internal in (value._parameters, value._buffers, value._modules):
                self._keep(internal)
        elif is_object(value) or hasattr(value, "__dataclass_fields__"):
            self._keep(getattr(value, "__dict__", None))
        if is_container(value):
            for _, child in children(value):
                self._keep(child)


def is_array(value: Any) -> bool:
    """Whether the value is an array of numpy's, which need not be installed."""
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def class_undo(owner: type) -> Callable[[], None]:
    """Puts back what a class has: attributes set, replaced and removed, methods too."""
    before = dict(vars(owner))

    def undo() -> None:
        now = dict(vars(owner))
        with contextlib.suppress(AttributeError, TypeError):  # what a class does not let be set, no program has set
            for name in now.keys() - before.keys():
                if not name.startswith(BOOKKEEPING):
                    delattr(owner, name)
            for name, value in before.items():
                if now.get(name, before) is not value:
                    setattr(owner, name, value)

    return undo


def function_undo(function: types.FunctionType) -> Callable[[], None]:
    """Puts back a function's code, its default arguments and its attributes."""
    before = {name: getattr(function, name) for name in ("__code__", "__defaults__", "__kwdefaults__")}
    attributes = dict(vars(function))

    def undo() -> None:
        for name, value in before.items():
            if getattr(function, name) is not value:
                setattr(function, name, value)
        now = vars(function)
        for name in [name for name in now if name not in attributes and not name.startswith(BOOKKEEPING)]:
            del now[name]
        now.update(attributes)

    return undo


def _refill(original: Any, saved: Any) -> None:
    original.clear()
    original.extend(saved) if hasattr(original, "extend") else original.update(saved)


def _write(array: Any, saved: Any) -> None:
    array[...] = saved


def _tensor_undo(tensor: torch.Tensor) -> Callable[[], None]:
    """Puts back what the tensor holds, where it lies, and its gradient; version counters stay out of it."""
    if tensor.layout is not torch.strided or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return lambda: None
    storage, requires_grad = tensor.untyped_storage(), tensor.requires_grad
    grad = tensor.grad if tensor.is_leaf else None
    size = storage.nbytes()
    bytes_before = torch.UntypedStorage(size, device=storage.device).copy_(storage)  # type: ignore[no-untyped-call]
    geometry = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())

    def undo() -> None:
        with torch.no_grad():
            if storage.nbytes() != size:
                storage.resize_(size)
            storage.copy_(bytes_before)
            now = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
            if now != geometry or tensor.untyped_storage().data_ptr() != storage.data_ptr():
                tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage, *geometry)
            if tensor.is_leaf and not tensor.is_inference():
                tensor.requires_grad_(requires_grad)
                tensor.grad = grad

    return undo


def contents_of(cell: Any) -> Any:
    """What a closure's cell holds; `NOTHING` where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return NOTHING


def cell_undo(cell: Any) -> Callable[[], None]:
    """Puts back which object a closure's cell holds."""
    before = contents_of(cell)

    def undo() -> None:
        if contents_of(cell) is before:
            return
        if before is NOTHING:
            del cell.cell_contents
        else:
            cell.cell_contents = before

    return undo


def entry_undo(space: dict[str, Any], name: str) -> Callable[[], None]:
    """Puts back which object a name of a namespace stands for, if any."""
    before = space.get(name, NOTHING)

    def undo() -> None:
        if space.get(name, NOTHING) is before:
            return
        if before is NOTHING:
            del space[name]
        else:
            space[name] = before

    return undo
