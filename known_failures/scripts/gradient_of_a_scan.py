"""A scan over an input that requires grad is refused.

Expected: sums. Seen: InductorError.
"""

import torch
from torch._higher_order_ops import scan


def running_sum(x):
    return scan(lambda total, row: (total + row, total * row), x[0].clone(), x)[0]


def gradient(program):
    x = torch.ones(3, 3, requires_grad=True)
    try:
        program(x).sum().backward()
    except Exception as error:
        return type(error).__name__
    return x.grad.tolist()


expected = gradient(running_sum)
torch._dynamo.reset()
seen = gradient(torch.compile(running_sum))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
