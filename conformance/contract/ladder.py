"""Torch's own ladder: the rungs that a failing program is run up."""

from __future__ import annotations

# Each rung adds one layer; the first on which a program differs from eager says whose fault it is.
LADDER = ("dynamo", "aot_eager", "aot_eager_decomp_partition")


def rungs(stack: str) -> list[str]:
    """The ladder that a failing program is run up: from Dynamo to the stack itself, which may be a rung."""
    below = LADDER[: LADDER.index(stack)] if stack in LADDER else LADDER
    return [*below, stack]
