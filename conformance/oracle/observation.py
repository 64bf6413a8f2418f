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
class Warned:
    """Warnings as texts with their category: those raised by the program's own code, and all."""

    by_program: dict[str, None] = field(default_factory=dict)  # in order
    all: set[str] = field(default_factory=set)


@dataclass
class Observation:
    phases: list[Phase] = field(default_factory=list)
    raised: Raised | None = None
    warned: Warned = field(default_factory=Warned)
    timings: dict[str, float] = field(default_factory=dict)


#: Written past the version counter, as batch_norm writes its statistics and ``.data`` writes do.
UNTRACKED = "written without moving"

#: The fate of a tensor that nothing keeps alive.
LET_GO = "let go"


@dataclass(frozen=True)
class Unreadable:
    """A property that raises when it is read, on this side."""

    error: str

    def __str__(self) -> str:
        return f"unreadable ({self.error})"
