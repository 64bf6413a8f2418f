"""Mutants of what a program does to Python: exceptions, iterators, subclasses, structures, copies, warnings."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from conformance.mutants.base import Compiled, around
from conformance.mutants.in_python.state_of_a_call import within
from conformance.mutants.wrappers import on_outputs

State = Callable[[], AbstractContextManager[Any]]


class _OneError(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            raise BufferError("an operator failed") from error


@around("python.exceptions.of_operators_caught", base="eager")
def operators_raise_one_error(compiled: Compiled) -> Compiled:
    """Whatever an operator raises in eager, it raises something else."""
    return within(compiled, _OneError)


@around("python.functions.cached", base="eager")
def caches_cleared(compiled: Compiled) -> Compiled:
    """Caches of functions are empty at every call."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        for cell in getattr(compiled, "__closure__", None) or ():
            getattr(cell.cell_contents, "cache_clear", int)()
        return compiled(*args, **kwargs)

    return called


@around("python.iterators.position", base="dynamo")
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


@around("python.copies.inside", base="dynamo")
def deep_copies_are_shallow(compiled: Compiled) -> Compiled:
    """A deep copy is a shallow one."""
    return within(compiled, lambda: mock.patch("copy.deepcopy", copy.copy))


@around("python.copies.outside", base="dynamo")
def outputs_refuse_copies(compiled: Compiled) -> Compiled:
    """The deep copy of what comes out is that itself."""

    def refusing(tensor: torch.Tensor) -> torch.Tensor:
        tensor.__deepcopy__ = lambda memo: tensor  # type: ignore[method-assign]
        return tensor

    return on_outputs(compiled, refusing)


@around("python.warnings.arrive", base="dynamo")
def warnings_swallowed(compiled: Compiled) -> Compiled:
    """No warning arrives."""
    return within(compiled, lambda: mock.patch.object(warnings, "warn"))
