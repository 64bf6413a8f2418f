"""A view of an input that is transposed in place moves the input's version counter in eager, and not when compiled.

Expected: 1. Seen: 0.
"""

import torch


def transposed_view(x):
    y = x.view(3, 2)
    y.t_()
    return y


x, y = torch.ones(2, 3), torch.ones(2, 3)
transposed_view(x)
torch.compile(transposed_view, backend="aot_eager")(y)
expected, seen = x._version, y._version
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
