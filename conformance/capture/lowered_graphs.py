"""Inductor's graphs after its post-grad passes and freezing, taken with the caches of whole graphs off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
from torch import fx

from conformance.canonical.graphs import Graph


class CaptureUnavailable(RuntimeError):
    """The running torch release does not show what was asked for."""


@contextmanager
def lowered_listener(lowered: list[Graph]) -> Iterator[None]:
    """Record the graph that inductor's post-grad passes leave, for every stack that compiles through inductor.

    The passes are wrapped rather than a custom pass registered: a custom pass is part of the configuration, and changes
    what is cached and which passes run.
    """
    from torch._inductor import compile_fx

    passes = getattr(compile_fx, "_recursive_post_grad_passes", None)
    if passes is None:
        raise CaptureUnavailable(
            f"torch {torch.__version__} has no _recursive_post_grad_passes to see lowered graphs at"
        )
    depth = 0

    def recording_passes(module: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1  # it calls itself for nested graphs, which the outer graph shows
        try:
            result = passes(module, *args, **kwargs)
        finally:
            depth -= 1
        if depth == 0:
            lowered.append(Graph.of(module))
        return result

    with mock.patch.object(compile_fx, "_recursive_post_grad_passes", recording_passes):
        yield


@contextmanager
def graph_caches_off() -> Iterator[None]:
    """No graph comes from, or goes to, the caches of whole graphs; compiled kernels stay cached."""
    import torch._functorch.config
    import torch._inductor.config

    with ExitStack() as stack:
        for config, names in (
            (torch._inductor.config, ("fx_graph_cache", "fx_graph_remote_cache")),
            (torch._functorch.config, ("enable_autograd_cache", "enable_remote_autograd_cache")),
        ):
            stack.enter_context(config.patch({name: False for name in names if hasattr(config, name)}))
        yield
