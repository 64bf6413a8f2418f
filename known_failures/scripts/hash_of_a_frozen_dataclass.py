"""The hash of a frozen dataclass breaks the graph.

Expected: 2.0. Seen: Unsupported.
"""

import dataclasses

import torch


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


def compare(x, held):
    return x * 2 if hash(held) == hash(Frozen(1)) else x * 3


expected = 2.0
try:
    seen = torch.compile(compare, backend="eager", fullgraph=True)(torch.ones(1), Frozen()).item()
except torch._dynamo.exc.Unsupported as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
