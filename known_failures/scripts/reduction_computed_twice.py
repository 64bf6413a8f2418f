"""A reduction that the program computes twice comes out as one object.

Expected: False. Seen: True, and backward through both outputs gives only one of the gradients.
"""

import torch


def reduced_twice(x):
    return x.max(0).values, x.max(0).values


first, second = torch.compile(reduced_twice, backend="aot_eager")(torch.rand(2, 3, requires_grad=True))
expected, seen = False, first is second
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
