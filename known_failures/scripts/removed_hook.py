"""A hook that a program registers on an intermediate and removes fails the compilation.

Expected: [3.0, 3.0]. Seen: AssertionError, idx must not be None for hook removal.
"""

import torch


def removed_hook(x):
    y = x * 2
    y.register_hook(torch.neg).remove()
    return y + 1


expected = [3.0, 3.0]
try:
    seen = torch.compile(removed_hook, backend="eager")(torch.ones(2, requires_grad=True)).tolist()
except AssertionError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
