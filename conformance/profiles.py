"""What the profiler saw of autograd: the sequence numbers of backward functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from torch.profiler import ProfilerActivity, profile

_BACKWARD = re.compile(r"(\w+)Backward\d*")


@contextmanager
def profiled(lines: list[str]) -> Iterator[None]:
    """Profile what runs inside, and add a line for each sequence number that a backward function had.

    The numbers count from 0, without gaps: where a thread starts to count says nothing, nor what eager computed.
    """
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        yield
    names: dict[int, set[str]] = {}
    for event in profiler.events() or ():
        # The engine's own event about a function has its name within a longer one.
        if event.sequence_nr >= 0 and (found := _BACKWARD.fullmatch(event.name)):
            names.setdefault(event.sequence_nr, set()).add(found[1])
    lines.extend(f"{rank} | {', '.join(sorted(names[number]))}" for rank, number in enumerate(sorted(names)))
