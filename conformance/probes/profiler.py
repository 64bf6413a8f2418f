"""The sequence numbers of backward functions in the profile of torch's profiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from torch.profiler import ProfilerActivity, profile

from conformance.canonical.expect import Expectable
from conformance.program.probe import Probe

_BACKWARD = re.compile(r"(\w+)Backward\d*")


@dataclass(frozen=True)
class Profiler(Probe):
    """Runs the stack's side, its compilation included, under torch's profiler."""

    may_be_called_again = False

    def around_stack_side(self, seen: list[str]) -> AbstractContextManager[None]:
        return profiled(seen)

    def show(self, seen: list[str]) -> Expectable:
        """The sequence numbers of backward functions in the profile, with their names, one a line."""
        return Expectable("profile", "\n".join(seen) or "(no backward function)")


@contextmanager
def profiled(lines: list[str]) -> Iterator[None]:
    """Profile what runs inside, and add a line for each sequence number that a backward function had.

    The numbers are renumbered from 0 without gaps, since a thread's first number depends on what ran before.
    """
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        yield
    names: dict[int, set[str]] = {}
    for event in profiler.events() or ():
        # The engine's own event about a function has its name within a longer one.
        if event.sequence_nr >= 0 and (found := _BACKWARD.fullmatch(event.name)):
            names.setdefault(event.sequence_nr, set()).add(found[1])
    lines.extend(f"{rank} | {', '.join(sorted(names[number]))}" for rank, number in enumerate(sorted(names)))
