"""Mutants of the state of Python and torch that a call is made in: globals, hooks, modes, the environment."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import torch

from conformance.mutants.base import Compiled, around

State = Callable[[], AbstractContextManager[Any]]


def within(compiled: Compiled, state: State) -> Compiled:
    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        with state():
            return compiled(*args, **kwargs)

    return called


def _as_at_first(compiled: Compiled, read: Callable[[], Any], put: Callable[[Any], Any]) -> Compiled:
    """Every call under what ``read`` gave before the first; ``put`` brings that about, and back afterwards."""
    first: list[Any] = []

    @contextmanager
    def state() -> Iterator[None]:
        now = read()
        first.append(now)
        put(first[0])
        try:
            yield
        finally:
            put(now)

    return within(compiled, state)


@around("guards.globals.written_in_place", base="eager")
def globals_of_the_first_call(compiled: Compiled) -> Compiled:
    """A global tensor is read with the values that it has at the first call."""
    held: dict[str, torch.Tensor] = {}

    @contextmanager
    def state() -> Iterator[None]:
        names: dict[str, Any] = getattr(compiled, "__globals__", {})
        now = {name: value.clone() for name, value in names.items() if isinstance(value, torch.Tensor)}
        for name, value in now.items():
            held.setdefault(name, value)
        with mock.patch.dict(names, held):
            yield

    return within(compiled, state)


@around("guards.hooks.of_tensors", base="eager")
def hooks_of_parameters_dropped(compiled: Compiled) -> Compiled:
    """Parameters have no hooks after the call."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        outputs = compiled(*args, **kwargs)
        for parameter in compiled.parameters():  # type: ignore[attr-defined]
            if parameter._backward_hooks:
                parameter._backward_hooks.clear()
        return outputs

    return called


@around("guards.hooks.of_all_modules", base="eager")
def hooks_of_all_modules_dropped(compiled: Compiled) -> Compiled:
    """Hooks of all modules do not run."""
    held = vars(torch.nn.modules.module)
    empty: dict[str, Any] = {name: {} for name in ("_global_forward_hooks", "_global_forward_pre_hooks")}
    return within(compiled, lambda: mock.patch.dict(held, empty))


@around("guards.modes.gradients", base="dynamo")
def grad_mode_of_the_first_call(compiled: Compiled) -> Compiled:
    """Every call is made under the grad mode of the first."""
    return _as_at_first(compiled, torch.is_grad_enabled, torch._C._set_grad_enabled)


@around("guards.modes.autocast", base="dynamo")
def autocast_of_the_first_call(compiled: Compiled) -> Compiled:
    """Every call is made with autocast as in the first."""
    return _as_at_first(
        compiled, lambda: torch.is_autocast_enabled("cpu"), lambda on: torch.set_autocast_enabled("cpu", on)
    )


@around("guards.modes.defaults", base="dynamo")
def default_dtype_of_the_first_call(compiled: Compiled) -> Compiled:
    """Every call is made under the default dtype of the first."""
    return _as_at_first(compiled, torch.get_default_dtype, torch.set_default_dtype)


@around("guards.modes.settings", base="dynamo")
def determinism_of_the_first_call(compiled: Compiled) -> Compiled:
    """Every call is made with deterministic algorithms as in the first."""
    return _as_at_first(compiled, torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode)


@around("guards.modes.torch_functions", base="eager")
def torch_functions_off(compiled: Compiled) -> Compiled:
    """Torch function modes are off during every call."""
    return within(compiled, torch._C.DisableTorchFunction)


@around("guards.world.environment", base="eager")
def environment_of_the_first_call(compiled: Compiled) -> Compiled:
    """Every call is made in the environment of the first."""

    def put(environment: dict[str, str]) -> None:
        os.environ.clear()
        os.environ.update(environment)

    return _as_at_first(compiled, lambda: dict(os.environ), put)
