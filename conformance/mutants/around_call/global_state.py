"""Mutants that disturb what is around a call: grad mode, autocast, the default dtype, the random number generators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from conformance.mutants.base import Compiled, around


@around("aot_autograd.grad_mode.change_outlives_call")
def grad_mode_put_back(compiled: Compiled) -> Compiled:
    """Grad mode is after the call as it was before it, whatever the program does to it."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(torch.is_grad_enabled()):
            return compiled(*args, **kwargs)

    return called


def _leaves_behind(compiled: Compiled, leak: Callable[[], Any]) -> Compiled:
    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        finally:
            leak()

    return called


@around("aot_autograd.grad_mode.restored")
def grad_mode_leaked(compiled: Compiled) -> Compiled:
    """Grad mode is off after every call."""
    return _leaves_behind(compiled, lambda: torch.set_grad_enabled(False))


@around("aot_autograd.mutation.writeback")
def default_dtype_leaked(compiled: Compiled) -> Compiled:
    """The default dtype is float64 after every call."""
    return _leaves_behind(compiled, lambda: torch.set_default_dtype(torch.float64))


@around("aot_autograd.mutation.writeback")
def autocast_leaked(compiled: Compiled) -> Compiled:
    """Autocast on the CPU is on after every call."""
    return _leaves_behind(compiled, lambda: torch.set_autocast_enabled("cpu", True))


@around("aot_autograd.mutation.writeback")
def random_numbers_drawn(compiled: Compiled) -> Compiled:
    """Every call draws one random number, so that the generator is not where eager leaves it."""
    return _leaves_behind(compiled, lambda: torch.rand(()))


@around("freezing.folding.random", "guards.world.state_of_torch", base="inductor")
def seed_reset(compiled: Compiled) -> Compiled:
    """Every call starts from the same seed, so that it draws the same numbers again."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        torch.manual_seed(0)
        return compiled(*args, **kwargs)

    return called
