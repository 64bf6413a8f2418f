"""What a program can touch besides its arguments: module attributes, globals, closures, global state."""

from __future__ import annotations

import copy
import inspect
import random
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from conformance.structure import SCALARS, is_container

MODULE_INTERNALS = frozenset(vars(torch.nn.Module())) | {"forward"}


def module_attributes(program: Any) -> dict[str, Any]:
    """Plain attributes of the program's modules, by name; internals and underscored names left out."""
    if not isinstance(program, torch.nn.Module):
        return {}
    found: dict[str, Any] = {}
    for prefix, module in program.named_modules():
        for name, value in vars(module).items():
            if name in MODULE_INTERNALS or name.startswith("_"):
                continue
            found[f"{prefix}.{name}" if prefix else name] = value
        found[f"{prefix}.training" if prefix else "training"] = module.training
    return found


class Watched:
    """The globals and closure cells that a program's code names and that hold plain data or tensors."""

    def __init__(self, program: Any) -> None:
        self._places: dict[str, tuple[Any, str]] = {}
        self._seen: set[int] = set()
        for function in _functions_of(program):
            self._collect(function)
        self._saved = {name: (value, _copy(value)) for name, value in self.values().items()}

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
        if isinstance(value, types.FunctionType):
            if value.__module__ == module:
                self._collect(value, depth + 1)
        elif _is_data(value):
            self._places.setdefault(label, (holder, key))

    def values(self) -> dict[str, Any]:
        return {label: _read_place(holder, key) for label, (holder, key) in self._places.items()}

    def restore(self) -> None:
        """Bring every watched place back to what it held, in the same objects, before the other side runs."""
        for label, (original, saved) in self._saved.items():
            holder, key = self._places[label]
            _refill(original, _copy(saved))
            if isinstance(holder, dict):
                holder[key] = original
            else:
                holder.cell_contents = original


def _functions_of(program: Any) -> Iterator[types.FunctionType]:
    program = inspect.unwrap(program) if callable(program) else program
    if isinstance(program, torch.nn.Module):
        for module in program.modules():
            if not type(module).__module__.startswith("torch."):
                yield from (f for f in vars(type(module)).values() if isinstance(f, types.FunctionType))
    elif isinstance(program, types.MethodType):
        yield from _functions_of(program.__func__)
    elif isinstance(program, types.FunctionType):
        yield program


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


def _is_data(value: Any) -> bool:
    return is_container(value) or isinstance(value, (*SCALARS, torch.Tensor, types.SimpleNamespace))


def _copy(value: Any) -> Any:
    """Containers copied all the way down; tensors and foreign objects kept, they are watched by identity."""
    if isinstance(value, dict):
        return {key: _copy(child) for key, child in value.items()}
    if type(value) in (list, set):
        return type(value)(_copy(child) for child in value)
    if isinstance(value, types.SimpleNamespace):
        return types.SimpleNamespace(**{key: _copy(child) for key, child in vars(value).items()})
    if isinstance(value, (torch.Tensor, *SCALARS)) or not is_container(value):
        return value
    return copy.copy(value)


def _refill(original: Any, saved: Any) -> None:
    if isinstance(original, dict):
        original.clear()
        original.update(saved)
    elif isinstance(original, list):
        original[:] = saved
    elif isinstance(original, set):
        original.clear()
        original.update(saved)
    elif isinstance(original, types.SimpleNamespace):
        vars(original).clear()
        vars(original).update(vars(saved))


def seed_everything(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)


GLOBAL_STATE: dict[str, Callable[[], Any]] = {
    "grad_mode": torch.is_grad_enabled,
    "inference_mode": torch.is_inference_mode_enabled,
    "autocast_cpu": lambda: (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
    "autocast_cuda": lambda: (torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")),
    "default_dtype": torch.get_default_dtype,
    "default_device": lambda: str(torch.get_default_device()),
    "deterministic": torch.are_deterministic_algorithms_enabled,
    "float32_matmul_precision": torch.get_float32_matmul_precision,
    "anomaly_mode": torch.is_anomaly_enabled,
    "saved_tensors_hooks": lambda: torch._C._autograd._top_saved_tensors_default_hooks(True) is not None,
}


def generator_states(device: str) -> dict[str, torch.Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if device.startswith("cuda"):
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


@contextmanager
def global_state_restored() -> Iterator[None]:
    """Whatever a side leaves behind (grad mode, default dtype, ...) ends with the side."""
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    deterministic, precision = torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision()
    autocast = {kind: (torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")}
    random_state, generators = random.getstate(), torch.get_rng_state()
    anomaly = torch.is_anomaly_enabled()
    device = torch.get_default_device()
    try:
        yield
    finally:
        torch._C._set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        torch.use_deterministic_algorithms(deterministic)
        torch.set_float32_matmul_precision(precision)
        for kind, (enabled, autocast_dtype) in autocast.items():
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, autocast_dtype)
        torch.autograd.set_detect_anomaly(anomaly)
        if torch.get_default_device() != device:
            torch.set_default_device(device)
        random.setstate(random_state)
        torch.set_rng_state(generators)
