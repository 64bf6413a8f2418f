"""What a call lets go of: one more call, on fresh arguments that nothing else keeps, and what is alive after it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from conformance.oracle.observation import LET_GO, Place
from conformance.oracle.tensor_facts import as_tuple, read
from conformance.program.nested_values import leaves
from conformance.program.programs import Call


def lifetimes(once: Callable[[], tuple[Call, Any]], device: str) -> dict[Place, Any]:
    """Whether the arguments and outputs of ``once()``, a call made for this alone, outlive it, and their memory too.

    On a GPU also whether a second such call leaves more memory allocated than the first. Nothing compiles: where what
    is compiled does not fit, the program runs as it is. A call that raises tells nothing.
    """
    with _only_new_garbage() as collect, torch.compiler.set_stance("eager_on_recompile"):
        try:
            watched = _made(once)
            collect(watched)
            facts: dict[Place, Any] = {(one.where, "lifetime"): one.fate() for one in watched}
            if device.startswith("cuda"):
                before = torch.cuda.memory_allocated(device)
                collect(_made(once))
                grown = torch.cuda.memory_allocated(device) > before
                facts["memory", "lifetime"] = "grows with every call" if grown else LET_GO
        except Exception:
            return {}
    return facts


@dataclass(frozen=True)
class _Mortal:
    """A tensor that is not kept alive here, and its memory, which an alias may keep without it."""

    where: str
    tensor: weakref.ref[torch.Tensor]
    memory: StorageWeakRef | None

    @staticmethod
    def of(where: str, tensor: torch.Tensor) -> _Mortal:
        storage = read(tensor.untyped_storage)
        memory = StorageWeakRef(storage) if isinstance(storage, torch.UntypedStorage) else None  # type: ignore[no-untyped-call]
        return _Mortal(where, weakref.ref(tensor), memory)

    def fate(self) -> str:
        if self.tensor() is not None:
            return "kept alive"
        gone = self.memory is None or self.memory.expired()  # type: ignore[no-untyped-call]
        return LET_GO if gone else "its memory is kept alive"


def _made(once: Callable[[], tuple[Call, Any]]) -> list[_Mortal]:
    """Make the call; no name of this frame, which ends here, holds what is watched."""
    call, output = once()
    held = {"arguments": (tuple(call.args), dict(call.kwargs)), "outputs": as_tuple(output)}
    return [
        _Mortal.of(where, leaf)
        for name, values in held.items()
        for where, leaf in _named(name, values)
        if isinstance(leaf, torch.Tensor)
    ]


def _named(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    if name != "arguments":
        yield from leaves(values, name)
        return
    for group in values:
        yield from leaves(group, name)


@contextmanager
def _only_new_garbage() -> Iterator[Callable[[list[_Mortal]], None]]:
    """Gives a collection of what was allocated inside alone; all of torch's heap is looked through in doubt only."""

    def collect(watched: list[_Mortal]) -> None:
        gc.collect(0)
        if any(one.fate() != LET_GO for one in watched):
            gc.collect()

    gc.collect(1)
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield collect
    finally:
        if enabled:
            gc.enable()
