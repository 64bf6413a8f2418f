"""What a program's code can reach besides its arguments: globals, closures, objects; watched and put back."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from conformance.program.nested_values import SCALARS, children, is_container, is_object, plain_attributes


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
    """The globals and closure cells that the functions' code names and that hold data, tensors or modules."""

    def __init__(self, program: Any, steps: Iterable[Callable[..., Any] | None] = ()) -> None:
        self._places: dict[str, tuple[Any, str]] = {}
        self._seen: set[int] = set()
        self._program = program
        for function in [*_functions_of(program), *(f for step in steps for f in _functions_of(step))]:
            self._collect(function)
        if isinstance(program, types.MethodType):
            self._places["self"] = ({"self": program.__self__}, "self")
        self._at_start = {label: _read_place(*place) for label, place in self._places.items()}
        self._kept = Kept(self._at_start.values())

    def _collect(self, function: types.FunctionType, depth: int = 0) -> None:
        if id(function) in self._seen or depth > 4:
            return
        self._seen.add(id(function))
        names = set(_names(function.__code__))
        for name in sorted(names & function.__globals__.keys()):
            self._watch(name, function.__globals__, name, function.__module__, depth)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._watch(name, cell, "cell_contents", function.__module__, depth)

    def _watch(self, label: str, holder: Any, key: str, module: str, depth: int) -> None:
        value = _read_place(holder, key)
        if value is self._program:
            return
        if isinstance(value, types.FunctionType):
            if value.__module__ == module:
                self._collect(value, depth + 1)
        elif isinstance(value, (*SCALARS, torch.Tensor)) or is_container(value):
            self._places.setdefault(label, (holder, key))

    def values(self) -> dict[str, Any]:
        return {label: _read_place(*place) for label, place in self._places.items()}

    def restore(self) -> None:
        """Bring every watched place back to what it held, in the same objects, before the other side runs."""
        with _disable_current_modes():
            self._kept.restore()
        for label, original in self._at_start.items():
            holder, key = self._places[label]
            if isinstance(holder, dict):
                holder[key] = original
            else:
                holder.cell_contents = original


class Kept:
    """The contents of mutable values, all the way down, to be put back into the same objects."""

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
        elif isinstance(value, torch.nn.Module):
            self._keep(vars(value))
            for internal in (value._parameters, value._buffers, value._modules):
                self._keep(internal)
        elif is_object(value) or (dataclasses.is_dataclass(value) and hasattr(value, "__dict__")):
            self._keep(vars(value))
        if is_container(value):
            for _, child in children(value):
                self._keep(child)


def _refill(original: Any, saved: Any) -> None:
    original.clear()
    original.extend(saved) if hasattr(original, "extend") else original.update(saved)


def _tensor_undo(tensor: torch.Tensor) -> Callable[[], None]:
    """Restores the tensor's values, memory and gradient, but not its version counter."""
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


def _functions_of(program: Any) -> Iterator[types.FunctionType]:
    program = inspect.unwrap(program) if callable(program) else program
    if isinstance(program, torch.nn.Module):
        for module in program.modules():
            yield from _methods(type(module))
    elif isinstance(program, types.MethodType):
        yield from _functions_of(program.__func__)
    elif isinstance(program, functools.partial):
        yield from _functions_of(program.func)
    elif isinstance(program, types.FunctionType):
        yield program
    elif is_object(program):
        yield from _methods(type(program))


def _methods(owner: type) -> Iterator[types.FunctionType]:
    for one in owner.__mro__:
        if not one.__module__.startswith("torch.") and one is not object:
            yield from (method for method in vars(one).values() if isinstance(method, types.FunctionType))


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _read_place(holder: Any, key: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(key)
    try:
        return holder.cell_contents
    except ValueError:
        return None
