"""The gradient through an output whose elements overlap is wrong where the incoming gradient is uneven.

Expected: [0.0, 2.0, 12.0, 36.0]. Seen: another one.
"""

import torch


def windows(x):
    return (x * x).unfold(0, 3, 1)


def gradient(program):
    x = torch.arange(4.0, requires_grad=True)
    program(x).backward(torch.arange(6.0).reshape(2, 3) * 1.0 + 1)
    return x.grad.tolist()


expected, seen = gradient(windows), gradient(torch.compile(windows, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
