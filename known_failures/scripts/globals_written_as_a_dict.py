"""A write to globals() is not seen by the program that makes it.

Expected: 2.0. Seen: 0.0.
"""

import torch

count = 0


def rebind(x):
    globals()["count"] = 2
    return x * count


seen = torch.compile(rebind, backend="eager")(torch.ones(1)).item()
expected = 2.0
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
