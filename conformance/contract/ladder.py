"""Torch's own ladder: the rungs that a failing program is run up."""

from __future__ import annotations

# Each rung adds one layer; the first on which a program differs from eager says whose fault it is.
LADDER = ("dynamo", "aot_eager", "aot_eager_decomp_partition")
#: AOTAutograd as other backends use it, beside `aot_eager`: with the default partitioner, and with core decompositions.
DEFAULT_PARTITION, CORE_DECOMPOSITIONS = BESIDE = ("aot_default_partition", "aot_core_decompositions")
#: All that a backend behind AOTAutograd may stand on, lowest first.
LAYERS = (*LADDER[:2], *BESIDE, *LADDER[2:])
#: Dynamo captures nothing for these: they stand on no rung.
WITHOUT_DYNAMO = ("aot_inductor",)


def rungs(stack: str) -> list[str]:
    """The ladder that a failing program is run up: from Dynamo to the stack itself, which may be a rung."""
    if stack in WITHOUT_DYNAMO:
        return [stack]
    end = "aot_eager_decomp_partition" if stack in BESIDE else stack
    below = LADDER[: LADDER.index(end)] if end in LADDER else LADDER
    return [*below, stack]


def layers(through_aot_autograd: bool) -> tuple[str, ...]:
    """The rungs that a backend stands on which Dynamo calls, lowest first: what these break, it cannot mend."""
    return LAYERS if through_aot_autograd else LADDER[:1]
