"""Guards that are checked, but not timed, while a stack compiles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock


@contextmanager
def guards_not_timed() -> Iterator[None]:
    """Dynamo does not time its guards: for one line of its log it empties the processor's caches, some 50 ms a compile.

    That the guards hold for the call that they were made for it checks before that, and still does.
    """
    from torch._dynamo import guards

    # Not a mock that returns it: that keeps what it is called with, every compiled frame's variables.
    with mock.patch.object(guards, "profile_guard_manager", new=_not_timed, create=True):
        yield


def _not_timed(*_: Any) -> float:
    return 0.0
