"""Runs of the oracle that the tests of it share: a stack made wrong by a wrapper, and what is reported of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from conformance.capture.recorder import Recorder
from conformance.run.bound_stack import BoundStack
from conformance.run.run import Run
from conformance.stacks import Stack, resolve


@dataclass(frozen=True)
class Wrapped(Stack):
    """A stack that calls what it compiles through ``wrap(compiled)``."""

    wrap: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda compiled: compiled

    def compile(self, program: Callable[..., Any], recorder: Recorder, **options: Any) -> Callable[..., Any]:
        return self.wrap(super().compile(program, recorder, **options))


def wrapped(wrap: Callable[[Callable[..., Any]], Callable[..., Any]], base: str = "eager") -> BoundStack:
    """The base stack, made wrong by a wrapper around what it compiles."""
    stack = resolve(base)
    return BoundStack(Wrapped(stack.name, stack.backend, stack.capabilities, exact=stack.exact, wrap=wrap), "cpu")


def on(name: str) -> BoundStack:
    return BoundStack(resolve(name), "cpu")


def reported(run: Run) -> list[str]:
    """The names of all discrepancies, in order."""
    return [found.name for found in run.comparison.discrepancies]


def calls_of(*build: Callable[[], tuple[Any, ...]]) -> Callable[[str], list[tuple[Any, ...]]]:
    """A call sequence whose arguments are built anew for every side."""
    return lambda device: [one() for one in build]


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A leaf with small integers that requires grad."""
    return torch.arange(1.0, torch.Size(shape).numel() + 1).reshape(shape).to(dtype).requires_grad_()


def _writes_are_lost(compiled: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        return compiled(*(one.detach().clone() for one in args))

    return called


#: A stack that is quick and wrong: the program never sees the caller's tensors.
WRITES_ARE_LOST = Wrapped("writes_are_lost", None, resolve("eager").capabilities, wrap=_writes_are_lost)
