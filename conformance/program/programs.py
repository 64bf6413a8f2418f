"""Programs, call sequences, and input factories that keep duplicates and aliases.

A program is compiled; a call sequence is what is called on it, in order. Both are *recipes*: every side of
a comparison (eager, float64 reference, stack) builds its own program and its own arguments from them, with
the same values, the same aliasing and the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from conformance.program.probe import Probe
from conformance.program.seeds import SEED, seed_torch


class ProgramError(ValueError):
    """A program or call sequence that cannot be used; the message is one line that says what is wanted."""


@dataclass(frozen=True)
class Call:
    """One call: positional and keyword arguments, and an optional step that both sides take before it.

    ``before`` receives the uncompiled program (the module, where it is one); it is how a sequence changes
    state between calls: a flag of a parameter, a weight, an entry of a global container.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    before: Callable[[Any], None] | None = None


def call(*args: Any, before: Callable[[Any], None] | None = None, **kwargs: Any) -> Call:
    """A call with keyword arguments or a step before it; a plain tuple does for everything else."""
    return Call(args, kwargs, before)


@dataclass(frozen=True)
class TensorRecipe:
    shape: tuple[int, ...]
    dtype: torch.dtype
    requires_grad: bool
    seed: int
    special: bool = False

    def build(self, device: str) -> torch.Tensor:
        """Small integers of either sign, so that linear programs are exact in every dtype and on every device."""
        steps = torch.arange(math.prod(self.shape), dtype=torch.int64)
        if self.special:
            known = special_values(self.dtype)
            values = known[(steps + self.seed) % len(known)]
        else:
            values = (steps * 5 + self.seed * 3 + 1) % 7 - 3
            values = values > 0 if self.dtype is torch.bool else values
        built = values.reshape(self.shape).to(device=device, dtype=self.dtype)
        return built.requires_grad_() if self.requires_grad else built


def special_values(dtype: torch.dtype) -> torch.Tensor:
    """What a dtype holds besides plain numbers: NaN, signed zeros, infinities, subnormals and limits; one dimension."""
    if dtype is torch.bool:
        return torch.tensor([True, False])
    if dtype.is_complex:
        parts = special_values(dtype.to_real())
        return torch.complex(parts, parts.roll(1))
    if not dtype.is_floating_point:
        least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        return torch.tensor([most, least, 0, 1, most - 1, least + 1], dtype=dtype)
    largest, normal = torch.finfo(dtype).max, torch.finfo(dtype).smallest_normal
    subnormal = normal * 0.75
    values = [math.nan, -0.0, math.inf, subnormal, largest, -math.inf, 0.0, -subnormal, -largest, normal]
    return torch.tensor(values, dtype=dtype)


@dataclass(frozen=True)
class CallSequence:
    """Calls whose arguments are independent tensors, made by :func:`tensors`; ``then`` appends more calls."""

    recipes: tuple[tuple[TensorRecipe, ...], ...]
    device: str

    def __call__(self, device: str) -> list[tuple[torch.Tensor, ...]]:
        return [tuple(recipe.build(device) for recipe in one_call) for one_call in self.recipes]

    def then(self, other: CallSequence) -> CallSequence:
        return CallSequence(self.recipes + other.recipes, self.device)


def tensors(
    *shapes: tuple[int, ...],
    device: str,
    dtype: torch.dtype = torch.float32,
    requires_grad: bool | Sequence[bool] = False,
    special: bool = False,
) -> CallSequence:
    """One call with a contiguous tensor per shape, distinct small integer values in each.

    ``requires_grad`` is one flag for all or one per tensor. With ``special`` the values are those of `special_values`,
    in order and again from the start, each tensor beginning one further than the one before it. For anything else
    (views, duplicates, overlaps) write a function ``calls(device)`` that returns a list of argument tuples and builds
    them afresh.
    """
    flags = [requires_grad] * len(shapes) if isinstance(requires_grad, bool) else list(requires_grad)
    if len(flags) != len(shapes):
        raise ProgramError(f"requires_grad has {len(flags)} flags for {len(shapes)} shapes")
    recipes = tuple(
        TensorRecipe(tuple(shape), dtype, flag, seed, special)
        for seed, (shape, flag) in enumerate(zip(shapes, flags, strict=True))
    )
    return CallSequence((recipes,), device)


Calls = Callable[[str], Sequence["tuple[Any, ...] | Call"]]


@dataclass(frozen=True)
class Program:
    """What is compiled, and under which options.

    Give ``function`` (a plain function) or ``make(device)`` (returns a function or module, built afresh with
    a fixed seed for every side). ``after(arguments, outputs)`` is the follow-up: it runs on both sides after
    the last call and the backward, on the last call's arguments and outputs, and what it returns is compared.
    ``inference`` is True (``no_grad``) or ``"inference_mode"``; ``backward=False`` leaves the backward out;
    ``backward(outputs)``, given every call's outputs in order, is run instead of the oracle's own.
    ``tangent(output)`` is the gradient that comes in at an output, where it is not the oracle's own.
    ``threads`` are those of one operator, on both sides, where the case needs another number than the run's.
    ``probes`` are what this case asks of a run besides (`conformance.probes`), the outermost last.
    """

    function: Callable[..., Any] | None = None
    make: Callable[[str], Callable[..., Any]] | None = None
    after: Callable[[tuple[Any, ...], Any], Any] | None = None
    inference: bool | str = False
    backward: bool | Callable[[list[Any]], None] = True
    tangent: Callable[[torch.Tensor], torch.Tensor] | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None
    probes: tuple[Probe, ...] = ()

    def __post_init__(self) -> None:
        if (self.function is None) == (self.make is None):
            raise ProgramError("a Program takes either function=... or make=..., not both and not neither")
        if self.inference not in (False, True, "no_grad", "inference_mode"):
            raise ProgramError(f"inference is True, 'no_grad' or 'inference_mode', not {self.inference!r}")

    @property
    def name(self) -> str:
        named: Any = self.function if self.function is not None else self.make
        if isinstance(named, _ModuleFactory):
            named = named.module_class
        return getattr(named, "__qualname__", type(named).__name__)

    @property
    def runs_backward(self) -> bool:
        """Whether a backward follows the calls: without gradients there is none to run."""
        return bool(self.backward) and not self.inference

    def grad_mode(self) -> AbstractContextManager[Any]:
        """What the program is called under: nothing, ``no_grad`` or ``inference_mode``."""
        if self.inference == "inference_mode":
            return torch.inference_mode()
        return torch.no_grad() if self.inference else nullcontext()

    @property
    def watched(self) -> bool:
        """Whether what the program reaches besides its arguments is looked at and put back."""
        return all(probe.watches_reachable_state for probe in self.probes)

    @property
    def may_be_called_again(self) -> bool:
        """Whether a call after the sequence is seen by nothing but the oracle."""
        return all(probe.may_be_called_again for probe in self.probes)

    @contextmanager
    def around_side(self) -> Iterator[None]:
        """What each side is built and run in."""
        with ExitStack() as contexts:
            for probe in self.probes:
                contexts.enter_context(probe.around_side())
            yield

    def build(self, device: str) -> Callable[..., Any]:
        """The callable for one side; modules are fresh and hold the same values on every side."""
        if self.function is not None:
            return self.function
        assert self.make is not None
        seed_torch(SEED)
        return self.make(device)

    @staticmethod
    def of(program: Callable[..., Any] | Program | type[torch.nn.Module], **options: Any) -> Program:
        """A Program from what a case passes to ``stack.run``: a function, a module class, or a Program."""
        if isinstance(program, Program):
            if options:
                from dataclasses import replace

                return replace(program, **options)
            return program
        if isinstance(program, type) and issubclass(program, torch.nn.Module):
            return Program(make=_ModuleFactory(program), **options)
        if isinstance(program, torch.nn.Module):
            raise ProgramError("pass the module class or a factory, not a module: each side builds its own")
        if not callable(program):
            raise ProgramError(f"a program is a function, a module class or a Program, not {type(program).__name__}")
        return Program(function=program, **options)


@dataclass(frozen=True)
class _ModuleFactory:
    module_class: type[torch.nn.Module]

    def __call__(self, device: str) -> torch.nn.Module:
        return self.module_class().to(device)


def build_calls(calls: Calls, device: str) -> list[Call]:
    """The arguments of one side, all calls built at once so that aliases across calls are kept."""
    seed_torch(SEED)
    built = calls(device)
    if not isinstance(built, (list, tuple)) or not built:
        raise ProgramError("calls(device) must return a list of argument tuples, one per call, and at least one")
    sequence: list[Call] = []
    for index, one in enumerate(built):
        if isinstance(one, Call):
            sequence.append(one)
        elif isinstance(one, tuple):
            sequence.append(Call(one))
        else:
            raise ProgramError(f"calls(device)[{index}] is {type(one).__name__}: each call is a tuple of arguments")
    return sequence
