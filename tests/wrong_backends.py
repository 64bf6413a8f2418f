"""Backends that are wrong in one way each, as a user would name them: ``tests.wrong_backends:adds_one``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx


def adds_one(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Every floating result is one too large."""

    def run(*arguments: Any) -> Any:
        return tuple(_one_more(one) for one in module(*arguments))

    return run


def _one_more(value: Any) -> Any:
    return value + 1 if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def keeps_buffers(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Every call returns the tensors that the first one returned, filled anew."""
    kept: list[Any] = []

    def run(*arguments: Any) -> Any:
        results = module(*arguments)
        if not kept:
            kept.extend(results)
        for buffer, result in zip(kept, results, strict=True):
            if isinstance(buffer, torch.Tensor) and buffer is not result:
                buffer.detach().copy_(result.detach())
        return tuple(kept)

    return run


def keeps_arguments(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """What the last call was given is kept until the next one."""
    kept: list[Any] = []

    def run(*arguments: Any) -> Any:
        kept[:] = arguments
        return module(*arguments)

    return run


def drops_writes(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """What the graph writes into its inputs does not reach the caller."""

    def run(*arguments: Any) -> Any:
        return module(*(one.clone() if isinstance(one, torch.Tensor) else one for one in arguments))

    return run


def crashes(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """The process ends when the graph is run."""

    def run(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGSEGV)

    return run


def exits(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """The process ends with an exit status of its own, after something on standard output."""
    print("compiling", flush=True)
    os._exit(7)


def hangs(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compiling never ends."""
    while True:
        time.sleep(1)
