"""A context around each side, such as the registration of an operator, and a run that ignores reachable state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from conformance.program.probe import Probe


@dataclass(frozen=True)
class Within(Probe):
    """Each side is built and run inside ``context()``, and so are the AOT graphs traced."""

    context: Callable[[], AbstractContextManager[Any]]

    def around_side(self) -> AbstractContextManager[Any]:
        return self.context()


@dataclass(frozen=True)
class Unwatched(Probe):
    """Does not look at what a function reaches by its globals and closure, since looking keeps it alive."""

    watches_reachable_state = False
