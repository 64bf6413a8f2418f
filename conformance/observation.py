"""What one side showed: facts by place and phase, and the exception that ended it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

#: Observables whose fact is a tensor, compared by value.
TENSOR_VALUES = frozenset({"value", "storage_contents"})

Place = tuple[str, str]  # where, observable


@dataclass(frozen=True)
class Raised:
    """An exception, and the phase it came out of."""

    stage: str  # call, backward, follow_up
    phase: int
    error: BaseException
    left: dict[Place, Any] = field(default_factory=dict)  # global state, as the exception left it


@dataclass
class Phase:
    """What was seen after one step: a call, the backward, the follow-up."""

    name: str
    stage: str
    facts: dict[Place, Any] = field(default_factory=dict)


@dataclass
class Observation:
    phases: list[Phase] = field(default_factory=list)
    raised: Raised | None = None
    timings: dict[str, float] = field(default_factory=dict)

    def tensor(self, phase: int, place: Place) -> torch.Tensor | None:
        facts = self.phases[phase].facts if phase < len(self.phases) else {}
        value = facts.get(place)
        return value if isinstance(value, torch.Tensor) else None


#: Written past the version counter, as batch_norm writes its statistics and ``.data`` writes do.
UNTRACKED = "written without moving"


@dataclass(frozen=True)
class Unreadable:
    """A property that raises when it is read, on this side."""

    error: str

    def __str__(self) -> str:
        return f"unreadable ({self.error})"
