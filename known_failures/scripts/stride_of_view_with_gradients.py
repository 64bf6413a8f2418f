"""A view of an intermediate, with a dimension of size 1, has another stride there when gradients are asked for.

Expected: (1, 2) twice. Seen: (1, 2), then (6, 2).
"""

import torch


def last_row(x):
    return (x + 1)[1:]


x = torch.ones(3, 2, requires_grad=True).t()
expected, seen = (program(x).stride() for program in (last_row, torch.compile(last_row, backend="aot_eager")))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
