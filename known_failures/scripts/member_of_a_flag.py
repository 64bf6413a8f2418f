"""Whether a member of an enum.Flag is in another breaks the graph.

Expected: 2.0. Seen: Unsupported.
"""

import enum

import torch


class Bits(enum.Flag):
    ONE = 1
    TWO = 2


def choose(x, value):
    return x * 2 if Bits.ONE in value else x * 3


expected = 2.0
try:
    seen = torch.compile(choose, backend="eager", fullgraph=True)(torch.ones(1), Bits.ONE).item()
except torch._dynamo.exc.Unsupported as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
