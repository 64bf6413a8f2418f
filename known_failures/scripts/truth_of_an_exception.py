"""Whether an exception is true breaks the graph.

Expected: 2.0. Seen: Unsupported.
"""

import torch


def catch(x):
    try:
        raise ValueError("inside")
    except ValueError as error:
        return x * 2 if error else x * 3


expected = 2.0
try:
    seen = torch.compile(catch, backend="eager", fullgraph=True)(torch.ones(1)).item()
except torch._dynamo.exc.Unsupported as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
