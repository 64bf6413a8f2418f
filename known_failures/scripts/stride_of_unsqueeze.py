"""A dimension of size 1 is put in front of an intermediate that is stored transposed.

Expected: (2, 1, 2). Seen: (6, 1, 2).
"""

import torch


def unsqueeze(x):
    return (x + 1).unsqueeze(0)


x = torch.arange(6.0).view(3, 2).t()
expected, seen = unsqueeze(x).stride(), torch.compile(unsqueeze)(x).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
