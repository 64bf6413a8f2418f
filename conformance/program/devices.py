"""Devices: which there are, the reason when one is not, and how worker processes share GPUs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch

KNOWN = ("cpu", "cuda")


#: What eager itself ran when this process lost its GPU.
LOST_BY_EAGER: list[str] = []


class DeviceError(ValueError):
    """A device that does not exist; the message is one line that says what does."""


@dataclass(frozen=True)
class Device:
    """A kind of device on this machine; ``reason`` says why it is absent."""

    name: str
    count: int
    reason: str = ""

    @property
    def available(self) -> bool:
        return self.count > 0

    @property
    def models(self) -> tuple[str, ...]:
        """The name of each GPU. Asking for it initializes CUDA in this process, which counting does not."""
        return tuple(torch.cuda.get_device_name(index) for index in range(self.count if self.name == "cuda" else 0))


def device(name: str) -> Device:
    """The record of one kind of device."""
    if name == "cpu":
        return Device("cpu", 1)
    if name != "cuda":
        raise DeviceError(f"unknown device {name!r}; known: {', '.join(KNOWN)}")
    if torch.version.cuda is None and torch.version.hip is None:
        return Device("cuda", 0, f"no CUDA device: torch {torch.__version__} was built without CUDA")
    count = torch.cuda.device_count()
    if count:
        return Device("cuda", count)
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    why = "the driver shows no GPU" if hidden is None else f"CUDA_VISIBLE_DEVICES={hidden!r} shows no GPU"
    return Device("cuda", 0, f"no CUDA device: {why} to torch {torch.__version__}")


def is_lost(name: str) -> bool:
    """Whether this process cannot use the GPU any more: after a kernel's failed assertion all it asks for fails."""
    if name != "cuda" or not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def resolve(names: Sequence[str]) -> list[str]:
    """The device names asked for, checked; all known ones where none is named, absent ones included.

    Cases of an absent device are collected and reported as unavailable, so that counts agree across machines.
    """
    for name in names:
        if name not in KNOWN:
            raise DeviceError(f"unknown device {name!r}; known: {', '.join(KNOWN)}")
    return list(dict.fromkeys(names)) or list(KNOWN)


def visible_gpus() -> list[str]:
    """The GPUs that a child process may use, as CUDA_VISIBLE_DEVICES names them."""
    count = device("cuda").count
    stated = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return stated[:count] if stated else [str(index) for index in range(count)]


def gpu_of(worker: int, gpus: Sequence[str]) -> str | None:
    """The GPU of the worker with this number, round robin."""
    return gpus[worker % len(gpus)] if gpus else None


def memory_share(workers: int, gpus: Sequence[str]) -> float:
    """The part of a GPU's memory that each of so many workers may take, leaving a tenth to their CUDA contexts."""
    most = -(-workers // len(gpus)) if gpus else 1
    return 1.0 if most <= 1 else 0.9 / most
