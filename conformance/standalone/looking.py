"""Pasted into scripts: what nested values hold, what code reaches besides its arguments, and the modes in force."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from conformance.canonical.wrapped import is_fake

Facts = dict[tuple[str, str], Any]
SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.layout, slice, range)
NOT_ITS_OWN = {*vars(torch.nn.Module()), "forward", "_compiled_call_impl", "_flat_weight_refs", "_is_torch_compile"}


def read(property_of: Callable[[], Any]) -> Any:
    """What a property is, or that it cannot be read."""
    try:
        return property_of()
    except Exception as error:
        return f"unreadable ({type(error).__name__})"


def plain_attributes(module: torch.nn.Module) -> dict[str, Any]:
    found = {name: value for name, value in vars(module).items() if name not in NOT_ITS_OWN}
    return {**found, "training": module.training}


def own_object(value: Any) -> bool:
    """Whether it is an object of the program's, whose attributes it can touch."""
    if isinstance(value, types.SimpleNamespace):
        return True
    origin = type(value).__module__.partition(".")[0]
    if origin in {"torch", "torchgen", "numpy", "triton"} or origin in sys.stdlib_module_names:
        return False
    types_of_code = (type, torch.Tensor, types.FunctionType, types.ModuleType)
    return isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, types_of_code)


def parts(value: Any) -> list[tuple[str, Any]] | None:
    """What a container holds, with the path to each; None for a leaf."""
    attributes: dict[str, Any] | None = None
    if isinstance(value, dict):
        return [(f"[{key!r}]", child) for key, child in value.items()]
    if isinstance(value, (list, tuple, collections.deque)):
        names = getattr(value, "_fields", None)
        return [(f".{names[index]}" if names else f"[{index}]", child) for index, child in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return [(f"{{{index}}}", child) for index, child in enumerate(sorted(value, key=repr))]
    if isinstance(value, torch.nn.Module):
        attributes = {**value._parameters, **value._buffers, **value._modules, **plain_attributes(value)}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        attributes = {one.name: getattr(value, one.name, None) for one in dataclasses.fields(value)}
    elif own_object(value):
        attributes = vars(value)
    return None if attributes is None else [(f".{name}", child) for name, child in attributes.items()]


def leaves(value: Any, path: str, inside: frozenset[int] = frozenset()) -> Iterator[tuple[str, Any]]:
    below = parts(value)
    if below is None:
        yield path, value
    elif id(value) not in inside:
        for key, child in below:
            yield from leaves(child, path + key, inside | {id(value)})


def outline(value: Any, inside: frozenset[int] = frozenset()) -> str:
    """The structure, with every leaf written as ``*``."""
    below = parts(value)
    if id(value) in inside or below is None:
        return "*" if below is None else "..."
    told = [f"{key}={outline(child, inside | {id(value)})}" for key, child in below]
    return f"{type(value).__name__}({', '.join(told)})"


def functions_of(program: Any) -> Iterator[types.FunctionType]:
    program = inspect.unwrap(program) if callable(program) else program
    if isinstance(program, types.MethodType):
        yield from functions_of(program.__func__)
    elif isinstance(program, functools.partial):
        yield from functions_of(program.func)
    elif isinstance(program, types.FunctionType):
        yield program
    elif isinstance(program, torch.nn.Module) or own_object(program):
        for one in program.modules() if isinstance(program, torch.nn.Module) else [program]:
            for owner in type(one).__mro__:
                if not owner.__module__.startswith("torch.") and owner is not object:
                    yield from (method for method in vars(owner).values() if isinstance(method, types.FunctionType))


class Watched:
    """The data that the program's code reaches by its globals and closures, put back after a side."""

    def __init__(self, program: Any, steps: list[Any]) -> None:
        self.program = program
        self.places: dict[str, tuple[Any, str]] = {}
        self.seen: dict[int, Any] = {}
        self.undo: list[Callable[[], None]] = []
        for function in [*functions_of(program), *(one for step in steps for one in functions_of(step))]:
            self._collect(function, 0)
        if isinstance(program, types.MethodType):
            self.places["self"] = ({"self": program.__self__}, "self")
        self.at_start = self.values()
        for value in self.at_start.values():
            self._keep(value)

    def values(self) -> dict[str, Any]:
        return {label: self._held(*place) for label, place in self.places.items()}

    def restore(self) -> None:
        for undo in self.undo:
            undo()
        for label, (holder, key) in self.places.items():
            if isinstance(holder, dict):
                holder[key] = self.at_start[label]
            else:
                holder.cell_contents = self.at_start[label]

    @staticmethod
    def _held(holder: Any, key: str) -> Any:
        if isinstance(holder, dict):
            return holder.get(key)
        try:
            return holder.cell_contents
        except ValueError:  # an empty cell
            return None

    def _collect(self, function: types.FunctionType, depth: int) -> None:
        if id(function) in self.seen or depth > 4:
            return
        self.seen[id(function)] = function
        names = {name for code in codes(function.__code__) for name in code.co_names} & function.__globals__.keys()
        held: list[tuple[str, Any, str]] = [(name, function.__globals__, name) for name in sorted(names)]
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for label, holder, key in [*held, *((name, cell, "cell_contents") for name, cell in cells)]:
            value = self._held(holder, key)
            if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
                self._collect(value, depth + 1)
            elif value is not self.program and (
                isinstance(value, (*SCALARS, torch.Tensor)) or parts(value) is not None
            ):
                self.places.setdefault(label, (holder, key))

    def _keep(self, value: Any) -> None:
        if id(value) in self.seen or isinstance(value, SCALARS):
            return
        self.seen[id(value)] = value
        if isinstance(value, torch.Tensor):
            self.undo.append(undo_of(value))
        elif isinstance(value, (dict, list, collections.deque, set)):
            self.undo.append(functools.partial(refill, value, value.copy()))
        elif isinstance(value, torch.nn.Module):
            for held in (vars(value), value._parameters, value._buffers, value._modules):
                self._keep(held)
        elif hasattr(value, "__dict__") and parts(value) is not None:
            self._keep(vars(value))
        for _, child in parts(value) or ():
            self._keep(child)


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def refill(original: Any, saved: Any) -> None:
    original.clear()
    original.extend(saved) if hasattr(original, "extend") else original.update(saved)


def undo_of(tensor: torch.Tensor) -> Callable[[], None]:
    """Puts back what a tensor holds, where it lies, and its gradient."""
    if tensor.layout is not torch.strided or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return lambda: None
    storage, requires_grad, grad = (
        tensor.untyped_storage(),
        tensor.requires_grad,
        tensor.grad if tensor.is_leaf else None,
    )
    saved, size = storage.clone(), storage.nbytes()  # type: ignore[no-untyped-call]
    geometry = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())

    def undo() -> None:
        with torch.no_grad():
            if storage.nbytes() != size:
                storage.resize_(size)
            storage.copy_(saved)
            if tensor.untyped_storage().data_ptr() != storage.data_ptr() or geometry != (
                tensor.storage_offset(),
                tuple(tensor.shape),
                tensor.stride(),
            ):
                tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage, *geometry)
            if tensor.is_leaf and not tensor.is_inference():
                tensor.requires_grad_(requires_grad)
                tensor.grad = grad

    return undo


def value_of(tensor: torch.Tensor) -> torch.Tensor:
    """A dense copy of the values, made without autograd; raises a TypeError where a stack left a fake tensor."""
    if is_fake(tensor):
        raise TypeError("a fake tensor has no values")
    with torch.no_grad():
        dense = tensor.detach()
        if dense.is_nested:
            return torch.cat([part.reshape(-1) for part in dense.unbind()]).clone()
        dense = dense.int_repr() if dense.is_quantized else dense
        return (dense if dense.layout is torch.strided else dense.to_dense()).resolve_conj().resolve_neg().clone()


def plain(leaf: Any) -> str:
    """A leaf that is no tensor, as text: its value where it has one that can be compared."""
    if isinstance(leaf, SCALARS) or type(leaf).__module__ == "numpy" or hasattr(leaf, "_value_"):
        return repr(leaf)
    return "symbolic" if isinstance(leaf, (torch.SymInt, torch.SymFloat)) else type(leaf).__qualname__


def global_state() -> Facts:
    readers: dict[str, Callable[[], Any]] = {
        "grad_mode": torch.is_grad_enabled,
        "inference_mode": torch.is_inference_mode_enabled,
        "autocast_cpu": lambda: (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
        "autocast_cuda": lambda: (torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")),
        "default_dtype": torch.get_default_dtype,
        "default_device": lambda: str(torch.get_default_device()),
        "deterministic": torch.are_deterministic_algorithms_enabled,
        "float32_matmul_precision": torch.get_float32_matmul_precision,
        "anomaly_mode": torch.is_anomaly_enabled,
    }
    return {(name, "global_state"): read(reader) for name, reader in readers.items()}


def generators(device: str) -> dict[str, Any]:
    states: dict[str, Any] = {"cpu": torch.get_rng_state().tolist(), "python": random.getstate()}
    if device.startswith("cuda"):
        states["cuda"] = torch.cuda.get_rng_state(device).tolist()
    return states
