"""Devices: which there are, and the reason when one is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

KNOWN = ("cpu", "cuda")


class DeviceError(ValueError):
    """A device that does not exist; the message is one line that says what does."""


@dataclass(frozen=True)
class Device:
    """A kind of device on this machine; ``reason`` says why it is absent."""

    name: str
    count: int
    reason: str = ""
    models: tuple[str, ...] = field(default=())

    @property
    def available(self) -> bool:
        return self.count > 0


def device(name: str) -> Device:
    """The record of one device kind."""
    if name == "cpu":
        return Device("cpu", 1)
    if name != "cuda":
        raise DeviceError(f"unknown device {name!r}; known: {', '.join(KNOWN)}")
    if torch.version.cuda is None:
        return Device("cuda", 0, f"no CUDA device: torch {torch.__version__} was built without CUDA")
    count = torch.cuda.device_count()
    if count == 0:
        return Device("cuda", 0, "no CUDA device: the driver shows none")
    return Device("cuda", count, models=tuple(torch.cuda.get_device_name(index) for index in range(count)))


def resolve(names: Sequence[str]) -> list[str]:
    """The device names asked for, checked; all known ones where none is named, absent ones included.

    Cases of an absent device are collected and reported as unavailable, so that counts agree across machines.
    """
    for name in names:
        if name not in KNOWN:
            raise DeviceError(f"unknown device {name!r}; known: {', '.join(KNOWN)}")
    return list(dict.fromkeys(names)) or list(KNOWN)
