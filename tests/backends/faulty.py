"""Backends with one fault each, written as an author of one would make it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx


def cached_buffers(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Every call writes its results to the buffers that the first call returned."""
    kept: list[torch.Tensor] = []

    def run(*arguments: Any) -> Any:
        results = module.forward(*arguments)
        if not kept:
            kept.extend(results)
        for buffer, result in zip(kept, results, strict=True):
            buffer.detach().copy_(result)
        return tuple(kept)

    return run


def one_more(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """From its second call on, every result is one too many."""
    calls = itertools.count()

    def run(*arguments: Any) -> Any:
        late = next(calls) > 0
        return tuple(result + 1 if late else result for result in module.forward(*arguments))

    return run


def without_gradients(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Nothing flows back through what it computes."""

    def run(*arguments: Any) -> Any:
        with torch.no_grad():
            return module.forward(*arguments)

    return run
