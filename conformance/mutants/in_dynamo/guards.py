"""Mutants in the guards: what was compiled serves calls that it does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch._dynamo import guards

from conformance.mutants.base import patching

_ARGUMENT = re.compile(r"L\['\w+'\]")
Unguarded = Callable[[Any, Any, Any], bool]


def _without_pairs(unguarded: Unguarded) -> Any:
    """No guard that two names are one object where ``unguarded(builder, source, other source)``."""
    original = guards.GuardBuilder.DUPLICATE_INPUT

    def duplicate_input(self: Any, guard: Any, source_b: Any) -> None:
        if not unguarded(self, guard.originating_source, source_b):
            original(self, guard, source_b)

    return mock.patch.object(guards.GuardBuilder, "DUPLICATE_INPUT", duplicate_input)


def _named(source: Any) -> str:
    """The source as text: a method until torch 2.9, a property later."""
    name = source.name
    return str(name() if callable(name) else name)


def _arguments(builder: Any) -> dict[str, Any]:
    """What the frame was called with, by name."""
    return dict(builder.scope["L"])


@patching("duplicate_arguments.guards.same_tensor_twice")
def pairs_unguarded() -> Iterator[None]:
    """Nothing guards that two arguments are one tensor."""
    with _without_pairs(lambda builder, source, other: True):
        yield


@patching("duplicate_arguments.guards.right_pair")
def later_pairs_unguarded() -> Iterator[None]:
    """Only a pair that the first argument belongs to is guarded."""
    first = "L['a']"
    with _without_pairs(lambda builder, source, other: first not in (_named(source), _named(other))):
        yield


@patching("duplicate_arguments.guards.beside_parameter_and_numbers")
def pairs_unguarded_beside_numbers() -> Iterator[None]:
    """A pair is not guarded where an argument is a number."""
    with _without_pairs(lambda builder, *_: any(isinstance(value, int) for value in _arguments(builder).values())):
        yield


@patching("duplicate_arguments.guards.after_lists")
def pairs_unguarded_beside_lists() -> Iterator[None]:
    """A pair is not guarded where an argument is a list."""
    with _without_pairs(lambda builder, *_: any(isinstance(value, list) for value in _arguments(builder).values())):
        yield


@patching("duplicate_arguments.guards.beside_parameter")
def pairs_unguarded_in_modules() -> Iterator[None]:
    """A pair is not guarded in the forward of a module."""
    with _without_pairs(lambda builder, *_: "self" in _arguments(builder)):
        yield


@patching("duplicate_arguments.guards.global_tensor")
def pairs_unguarded_beside_globals() -> Iterator[None]:
    """A pair is not guarded where a global is one of its tensors."""

    def unguarded(builder: Any, source: Any, other: Any) -> bool:
        held = [value for value in dict(builder.scope["G"]).values() if isinstance(value, torch.Tensor)]
        return any(value is one for value in _arguments(builder).values() for one in held)

    with _without_pairs(unguarded):
        yield


@patching("duplicate_arguments.guards.in_containers")
def pairs_unguarded_in_containers() -> Iterator[None]:
    """A pair is not guarded where one of the two is no argument itself."""
    with _without_pairs(lambda builder, *sources: any(not _ARGUMENT.fullmatch(_named(source)) for source in sources)):
        yield


@patching("duplicate_arguments.guards.container_passed_twice")
def lists_unguarded() -> Iterator[None]:
    """Nothing guards that two lists are one."""

    def unguarded(builder: Any, source: Any, other: Any) -> bool:
        return any(
            isinstance(value, list) and _named(source) == f"L['{n}']" for n, value in _arguments(builder).items()
        )

    with _without_pairs(unguarded):
        yield


@patching("duplicate_arguments.parameters.untied")
def pairs_unguarded_of_parameters() -> Iterator[None]:
    """A pair is not guarded where one of the two belongs to a module."""
    with _without_pairs(lambda builder, *sources: any("L['self']" in _named(source) for source in sources)):
        yield


@patching("duplicate_arguments.guards.global_starts_being_argument")
def distinct_tensors_unguarded() -> Iterator[None]:
    """Nothing guards that two tensors are two."""
    with mock.patch.object(guards, "install_no_tensor_aliasing_guard"):
        yield


@patching("duplicate_arguments.guards.in_containers_become_one")
def distinct_items_unguarded() -> Iterator[None]:
    """Nothing guards that two tensors are two where one of them is no argument itself."""
    original = vars(guards)["install_no_tensor_aliasing_guard"]

    def install(managers: list[Any], names: list[str], *reason: Any) -> None:
        if all(_ARGUMENT.fullmatch(name) for name in names):
            original(managers, names, *reason)

    with mock.patch.object(guards, "install_no_tensor_aliasing_guard", install):
        yield


@patching("duplicate_arguments.overlap.grows_and_shrinks")
def overlap_unguarded() -> Iterator[None]:
    """Nothing guards which inputs overlap."""
    with mock.patch.object(guards, "install_storage_overlapping_guard"):
        yield


@patching("duplicate_arguments.overlap.guards_are_linear")
def overlap_guarded_pair_by_pair() -> Iterator[None]:
    """Each pair of inputs that do not overlap has guards of its own."""
    original = vars(guards)["install_storage_overlapping_guard"]

    def install(overlapping: list[Any], distinct: list[Any], *reason: Any) -> None:
        original(overlapping, distinct, *reason)
        for index, one in enumerate(distinct):
            for other in distinct[:index]:
                original([], [one, other], *reason)

    with mock.patch.object(guards, "install_storage_overlapping_guard", install):
        yield


@patching("duplicate_arguments.recompiles.dtype")
def tensors_unguarded() -> Iterator[None]:
    """Nothing guards the properties of tensors."""
    with mock.patch.object(guards.GuardBuilder, "TENSOR_MATCH"):
        yield


def _without_every_second(first: int) -> Any:
    """The sizes (0) or the strides (1) of tensors unguarded: torch asks for both, one after the other."""
    original, asked = guards.convert_to_concrete_values, 0

    def concrete(values: Any) -> list[int | None]:
        nonlocal asked
        asked += 1
        return [None] * len(values) if (asked - 1) % 2 == first else original(values)

    return mock.patch.object(guards, "convert_to_concrete_values", concrete)


@patching("duplicate_arguments.recompiles.size")
def sizes_unguarded() -> Iterator[None]:
    """Nothing guards the sizes of tensors."""
    with _without_every_second(0):
        yield


@patching("duplicate_arguments.recompiles.stride")
def strides_unguarded() -> Iterator[None]:
    """Nothing guards the strides of tensors."""
    with _without_every_second(1):
        yield


def _without_values(unguarded: Callable[[Any], bool]) -> Any:
    """No guard on a number or string whose source is ``unguarded``."""
    original = guards.GuardBuilder.EQUALS_MATCH

    def equals_match(self: Any, guard: Any, *args: Any, **kwargs: Any) -> None:
        if not unguarded(guard.originating_source):
            original(self, guard, *args, **kwargs)

    return mock.patch.object(guards.GuardBuilder, "EQUALS_MATCH", equals_match)


@patching("duplicate_arguments.recompiles.global_value")
def globals_unguarded() -> Iterator[None]:
    """Nothing guards the numbers in globals."""
    with _without_values(lambda source: _named(source).startswith("G[")):
        yield


@patching("duplicate_arguments.recompiles.closure_value")
def closures_unguarded() -> Iterator[None]:
    """Nothing guards the numbers in closures."""
    with _without_values(lambda source: getattr(source, "is_derefed_cell_contents", False)):
        yield
