"""Mutants in how Dynamo runs Python: side effects left out, exceptions matched and contexts left wrongly."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

from torch._dynamo import side_effects, symbolic_convert, variables

from conformance.mutants.base import patching


def _left_out(chosen: Callable[[Any], bool]) -> AbstractContextManager[Any]:
    """What the program did to the variables that are ``chosen`` is not done after the graph."""
    owner: Any = side_effects.SideEffects
    original = owner.is_modified

    def is_modified(self: Any, item: Any) -> bool:
        return not (_of_the_caller(item) and chosen(item)) and bool(original(self, item))

    return mock.patch.object(owner, "is_modified", is_modified)


def _of_the_caller(item: Any) -> bool:
    return getattr(item, "source", None) is not None


def _is_container(item: Any) -> bool:
    names = {kind.__name__ for kind in type(item).__mro__}
    return bool(names & {"BaseListVariable", "ConstDictVariable", "SetVariable"})


def _is_argument(item: Any) -> bool:
    return type(item.source).__name__ == "LocalSource"


def _record(item: Any) -> bool:
    return dataclasses.is_dataclass(getattr(item, "value", None))


@patching("python.containers.changed", base="dynamo")
def containers_of_the_caller_unchanged() -> Iterator[None]:
    """Containers that were passed hold what they held before."""
    with _left_out(lambda item: _is_container(item) and _is_argument(item)):
        yield


@patching("python.containers.of_classes_and_modules", base="dynamo")
def containers_of_others_unchanged() -> Iterator[None]:
    """Containers that belong to a class, a module or a function hold what they held before."""
    with _left_out(lambda item: _is_container(item) and not _is_argument(item)):
        yield


@patching("python.objects.attributes", base="dynamo")
def objects_unchanged() -> Iterator[None]:
    """Objects have the attributes that they had before."""
    with _left_out(lambda item: isinstance(item, variables.UserDefinedObjectVariable)):
        yield


@patching("python.objects.records", base="dynamo")
def records_unchanged() -> Iterator[None]:
    """Dataclasses have the fields that they had before."""
    with _left_out(_record):
        yield


@patching("python.variables.rebound", base="dynamo")
def cells_unchanged() -> Iterator[None]:
    """Variables of closures hold what they held before."""
    with _left_out(lambda item: isinstance(item, variables.CellVariable)):
        yield


@patching(
    "python.exceptions.leaving", "python.exceptions.of_python_caught", "python.contexts.entered_and_left", base="dynamo"
)
def nothing_done_before_it_raises() -> Iterator[None]:
    """Lists hold what they held before."""
    with _left_out(lambda item: isinstance(item, variables.ListVariable)):
        yield


def _matching(matches: Callable[[bool], bool]) -> AbstractContextManager[Any]:
    owner: Any = symbolic_convert.InstructionTranslatorBase
    original = owner.check_if_exc_matches
    return mock.patch.object(owner, "check_if_exc_matches", lambda self: matches(bool(original(self))))


@patching("python.exceptions.raised_and_caught", base="dynamo")
def every_handler_matches() -> Iterator[None]:
    """A handler takes what is not its kind, and leaves what is."""
    with _matching(lambda matched: not matched):
        yield


@patching("python.iterators.generators", base="dynamo")
def generators_not_closed() -> Iterator[None]:
    """A generator that is closed runs none of its code."""
    owner: Any = vars(variables)["LocalGeneratorObjectVariable"]
    original = owner.call_method

    def call_method(self: Any, tx: Any, name: str, *args: Any, **options: Any) -> Any:
        if name == "close":
            return variables.ConstantVariable.create(None)
        return original(self, tx, name, *args, **options)

    with mock.patch.object(owner, "call_method", call_method):
        yield
