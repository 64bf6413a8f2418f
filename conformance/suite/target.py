"""What a case is run on: a stack and a device, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A stack on a device, as it stands in brackets in a pytest id."""

    stack: str
    device: str

    def __str__(self) -> str:
        return f"{self.stack}-{self.device}"
