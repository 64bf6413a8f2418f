"""The observation of one side: facts by place and phase, and the exception that ended it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: Observables whose fact is a tensor, compared by value.
TENSOR_VALUES = frozenset({"value", "storage_contents"})

Place = tuple[str, str]  # where, observable


@dataclass(frozen=True)
class Raised:
    """An exception, and the phase it came out of."""

    kind: str  # call, backward, follow_up
    number: int
    error: BaseException
    left: dict[Place, Any] = field(default_factory=dict)  # global state, as the exception left it


@dataclass
class Phase:
    """What was seen after one step: a call, the backward, the follow-up."""

    name: str
    kind: str
    facts: dict[Place, Any] = field(default_factory=dict)


@dataclass
class Observation:
    phases: list[Phase] = field(default_factory=list)
    raised: Raised | None = None
    timings: dict[str, float] = field(default_factory=dict)


#: Written past the version counter, as batch_norm writes its statistics and ``.data`` writes do.
UNTRACKED = "written without moving"


@dataclass(frozen=True)
class Unreadable:
    """A property that raises when it is read, on this side."""

    error: str

    def __str__(self) -> str:
        return f"unreadable ({self.error})"
