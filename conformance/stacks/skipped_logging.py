"""Leaves out work that torch does while it compiles, mostly for its logs, and that does not change the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

#: What is left out, as results say it.
SENTENCES = (
    "Dynamo does not time its guards.",
    "Dynamo and inductor do not write their configurations into the metrics of a compilation.",
)


@contextmanager
def logs_left_out() -> Iterator[None]:
    """Guards are checked but not timed, and configurations are not written out.

    To time its guards Dynamo empties the processor's caches, some 50 ms a compile; that they hold for the call that
    they were made for it checks before that, and still does. With every compile it writes out its configuration and
    inductor's.
    """
    from torch._dynamo import guards, utils

    # Functions rather than mocks that return: a mock keeps what it is called with, every compiled frame's variables.
    left_out = (
        (guards, "profile_guard_manager", _no_time),
        (utils, "_get_dynamo_config_for_logging", _no_text),
        (utils, "_scrubbed_inductor_config_for_logging", _no_text),
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
