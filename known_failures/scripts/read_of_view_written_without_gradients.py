"""A view of a leaf, taken and written to with gradients off, is copied with gradients on: this does not compile.

Expected: [2.0, 2.0]. Seen: RuntimeError, a view was created in no_grad mode and modified with grad mode enabled.
"""

import torch


def write_then_copy(x):
    y = x[0]
    y.mul_(2)
    with torch.enable_grad():
        return torch.empty_like(y).copy_(y)


x = torch.ones(4).view(2, 2).requires_grad_()
expected = [2.0, 2.0]
try:
    with torch.no_grad():
        seen = torch.compile(write_then_copy, backend="aot_eager")(x).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
