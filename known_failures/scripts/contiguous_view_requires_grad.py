"""A view and what contiguous() returns of it, which is the view itself, become two tensors, one without grad.

Expected: (True, True). Seen: (False, False).
"""

import torch


def require_grad(x):
    y = x[:1]
    z = y.contiguous()
    y.requires_grad_()
    return z, y


z, y = torch.compile(require_grad, backend="aot_eager")(torch.ones(3))
expected, seen = (True, True), (z is y, z.requires_grad)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
