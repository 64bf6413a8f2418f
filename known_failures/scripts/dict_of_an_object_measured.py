"""The length of an object's __dict__ breaks the graph.

Expected: 1.0. Seen: Unsupported.
"""

import torch


class Held:
    def __init__(self):
        self.first = 1


def count(x, held):
    return x * len(held.__dict__)


expected = 1.0
try:
    seen = torch.compile(count, backend="eager", fullgraph=True)(torch.ones(1), Held()).item()
except torch._dynamo.exc.Unsupported as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
