"""The failure of a case: which promise is broken, and what differs. Does not import torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

#: What is said of an output that was right when its call returned, and is wrong since a later one.
UNTIL_LATER_CALL = "right until a later call"


@dataclass(frozen=True)
class Discrepancy:
    """One observable on which eager and the stack differ."""

    observable: str
    where: str
    expected: str
    actual: str

    @property
    def name(self) -> str:
        """The observable with its place, as ledgers and reports write it."""
        return f"{self.where}.{self.observable}" if self.where else self.observable

    def __str__(self) -> str:
        if self.observable == "expectation":
            return f"{self.name}: the case says {self.expected}, stack {self.actual}"
        return f"{self.name}: eager {self.expected}, stack {self.actual}"


def of_part(found: Iterable[Discrepancy], name: str) -> dict[Discrepancy, Discrepancy]:
    """Those whose places begin with the name of a part, by the same without it: as the part's own run tells them."""
    return {
        replace(one, where=one.where.removeprefix(name).lstrip(".")): one
        for one in found
        if not name or one.where == name or one.where.startswith(f"{name}.")
    }


def path_of(where: str) -> list[str]:
    """What a place or a name leads through, whichever call and element it is: "outputs", "stride"."""
    return re.sub(r"\[[^\]]*\]", "", where).removeprefix("calls.").split(".")


class NothingToTry(Exception):
    """There is nothing that a case could try on this release of torch or this stack; the message says why."""


class CaseFailure(AssertionError):
    """A broken promise: the phase of the run it shows in, and what differs.

    ``exception`` is the type of what the stack raised, where that
    is the failure; ``run`` is the run in which it was seen. Where it was seen in several, ``parts`` has the run of each
    by what the places of its discrepancies begin with.
    """

    def __init__(
        self,
        message: str,
        *,
        phase: str,
        discrepancies: Iterable[Discrepancy] = (),
        exception: str | None = None,
        run: Any = None,
        parts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.phase = phase
        self.discrepancies = tuple(discrepancies)
        self.exception = exception
        self.run = run
        self.parts = dict(parts or {})
