"""A matmul of a transposed input's copy is computed after the input was written: the copy is not made.

Expected: 12.0 in the first place. Seen on torch 2.9.1 and 2.11.0 on a CPU: 5.0, of the values written afterwards.
"""

import torch


def program(x, y):
    product = torch.mm(x.mT.clone(), y)
    x[0].fill_(7)
    return product


def inputs():
    x = torch.arange(9.0).reshape(3, 3)
    return x, (x % 4 - 1).requires_grad_()


expected, seen = program(*inputs()).tolist(), torch.compile(program, backend="inductor")(*inputs()).tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
