"""Mutants of what a program does to Python, and of the state of Python and torch that a call is made in."""

from __future__ import annotations

import copy
import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around
from conformance.mutants.wrappers import on_outputs, swallowing

State = Callable[[], AbstractContextManager[Any]]


def _within(compiled: Compiled, state: State) -> Compiled:
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

    return _within(compiled, state)


@around("guards.globals.deleted", base="eager")
def name_errors_swallowed(compiled: Compiled) -> Compiled:
    """A call that raises returns None instead."""
    return swallowing(compiled)


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

    return _within(compiled, state)


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
    return _within(compiled, lambda: mock.patch.dict(held, empty))


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
    return _within(compiled, torch._C.DisableTorchFunction)


@around("guards.world.environment", base="eager")
def environment_of_the_first_call(compiled: Compiled) -> Compiled:
    """Every call is made in the environment of the first."""

    def put(environment: dict[str, str]) -> None:
        os.environ.clear()
        os.environ.update(environment)

    return _as_at_first(compiled, lambda: dict(os.environ), put)


@around("guards.world.state_of_torch", base="dynamo")
def seeded_in_every_call(compiled: Compiled) -> Compiled:
    """Every call begins with one seed."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        torch.manual_seed(0)
        return compiled(*args, **kwargs)

    return called


class _OneError(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            raise BufferError("an operator failed") from error


@around("python.exceptions.of_operators_caught", base="eager")
def operators_raise_one_error(compiled: Compiled) -> Compiled:
    """Whatever an operator raises in eager, it raises something else."""
    return _within(compiled, _OneError)


@around("python.functions.cached", base="eager")
def caches_cleared(compiled: Compiled) -> Compiled:
    """Caches of functions are empty at every call."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        for cell in getattr(compiled, "__closure__", None) or ():
            getattr(cell.cell_contents, "cache_clear", int)()
        return compiled(*args, **kwargs)

    return called


@around("python.iterators.position", base="eager")
def one_more_is_taken(compiled: Compiled) -> Compiled:
    """One more is taken from an iterator that is passed."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        outputs = compiled(*args, **kwargs)
        for one in args:
            next(one, None) if hasattr(one, "__next__") else None
        return outputs

    return called


@around("python.subclasses.torch_function", base="dynamo")
def subclasses_lost(compiled: Compiled) -> Compiled:
    """What comes out are plain tensors."""
    return on_outputs(compiled, lambda one: one.as_subclass(torch.Tensor))


@around("python.subclasses.torch_dispatch", base="dynamo")
def wrappers_lost(compiled: Compiled) -> Compiled:
    """Of a tensor that wraps another one, that one comes out."""
    return on_outputs(compiled, lambda one: getattr(one, "held", one))


@around("python.structures.arguments", base="dynamo")
def keywords_reordered(compiled: Compiled) -> Compiled:
    """Keyword arguments arrive in the opposite order."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **dict(reversed(kwargs.items())))

    return called


@around("python.structures.results", base="dynamo")
def tuples_become_lists(compiled: Compiled) -> Compiled:
    """Where a tuple is returned, a list comes out."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        outputs = compiled(*args, **kwargs)
        return list(outputs) if isinstance(outputs, tuple) else outputs

    return called


@around("python.values.types_and_comparisons", base="dynamo")
def bools_become_integers(compiled: Compiled) -> Compiled:
    """True comes out as 1."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return pytree.tree_map_only(bool, int, compiled(*args, **kwargs))

    return called


@around("python.copies.inside", base="eager")
def deep_copies_are_shallow(compiled: Compiled) -> Compiled:
    """A deep copy is a shallow one."""
    return _within(compiled, lambda: mock.patch("copy.deepcopy", copy.copy))


@around("python.copies.outside", base="dynamo")
def outputs_refuse_copies(compiled: Compiled) -> Compiled:
    """The deep copy of what comes out is that itself."""

    def refusing(tensor: torch.Tensor) -> torch.Tensor:
        tensor.__deepcopy__ = lambda memo: tensor  # type: ignore[method-assign]
        return tensor

    return on_outputs(compiled, refusing)


@around("python.warnings.arrive", base="eager")
def warnings_swallowed(compiled: Compiled) -> Compiled:
    """No warning arrives."""
    return _within(compiled, lambda: mock.patch.object(warnings, "warn"))
