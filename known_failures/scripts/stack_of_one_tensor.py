"""The strides of a transposed matrix that is stacked alone.

Expected: contiguous. Seen: those of the matrix, since what is joined from one tensor is a clone of it.
"""

import torch


def stacked(x):
    return torch.stack([x], -1)


x = torch.ones(4, 3).t()
expected, seen = stacked(x).stride(), torch.compile(stacked)(x).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
