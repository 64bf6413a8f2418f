"""A list of the caller's that a program repeats with *= is not longer afterwards.

Expected: [1, 1]. Seen: [1].
"""

import torch


def repeat(x, values):
    values *= 2
    return x + 1


seen = [1]
torch.compile(repeat, backend="eager")(torch.ones(1), seen)
expected = [1, 1]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
