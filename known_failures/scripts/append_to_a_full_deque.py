"""What is appended to a full deque of the caller's drops nothing while the program runs.

Expected: 2.0. Seen: 3.0.
"""

import collections

import torch


def append(x, recent):
    recent.append(3)
    return x * len(recent)


seen = torch.compile(append, backend="eager")(torch.ones(1), collections.deque([1, 2], maxlen=2)).item()
expected = 2.0
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
