"""The gradient through an output whose elements overlap is wrong where the incoming gradient is uneven.

Expected: [0.0, 12.0, 32.0, 36.0]. Seen: [0.0, 8.0, 24.0, 36.0].
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
