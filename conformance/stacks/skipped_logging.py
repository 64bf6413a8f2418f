"""Leaves out work that torch does while it compiles, mostly for its logs, and that does not change the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch


@contextmanager
def logs_left_out() -> Iterator[None]:
    """Guards are checked but not timed, configurations are not written out, and empty states are not made anew.

    To time its guards Dynamo empties the processor's caches, some 50 ms a compile; that they hold for the call that
    they were made for it checks before that, and still does. With every compile it writes out its configuration and
    inductor's. AOTAutograd traces the making of six tensors, the empty states of random numbers that are part of a
    graph: here they are one tensor, since nobody reads a state before it is set.
    """
    from torch._decomp import decompositions_for_rng
    from torch._dynamo import guards, utils

    empty = torch.empty(0)

    def reset(state: Any) -> None:
        vars(state).update(seed=empty, base_offset=empty, relative_offset=0)
        # Releases spell it differently.
        vars(state).update(offset_advanced_at_least_once=False, offset_advanced_alteast_once=False)

    # Functions rather than mocks that return: a mock keeps what it is called with, every compiled frame's variables.
    left_out = (
        (guards, "profile_guard_manager", _no_time),
        (utils, "_get_dynamo_config_for_logging", _no_text),
        (utils, "_scrubbed_inductor_config_for_logging", _no_text),
        (decompositions_for_rng.PhiloxState, "reset", reset),
    )
    with ExitStack() as stack:
        for place, name, instead in left_out:
            if hasattr(place, name):
                stack.enter_context(mock.patch.object(place, name, new=instead))
        yield


def _no_time(*_: Any) -> float:
    return 0.0


def _no_text() -> None:
    return None
