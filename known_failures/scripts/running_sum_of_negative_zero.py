"""Needs CUDA: the first of the running sums down the columns of a matrix, where it is a negative zero.

Expected: 0.0, as eager adds it to zero. Seen: -0.0, as a kernel of Triton begins with it.
"""

import torch

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)


def first(program):
    return str(float(program(torch.full((2, 2), -0.0, device="cuda"))[0, 0]))


def sums(x):
    return torch.cumsum(x, 0)


expected, seen = first(sums), first(torch.compile(sums))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
