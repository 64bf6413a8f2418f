"""A view squeezed in place, then a write to its base: the backward of what comes after cannot be traced.

Expected: a gradient of zeros. Seen: RuntimeError, CloneBackward0 returned an invalid gradient, [2, 2] for [1, 2, 2, 1].
"""

import torch


def squeeze_and_write(x):
    y = x.view(x.shape)
    y.squeeze_()
    x.zero_()
    return y.clone()


x = torch.ones(1, 2, 2, 1, requires_grad=True)
expected = [0.0, 0.0, 0.0, 0.0]
try:
    torch.compile(squeeze_and_write, backend="aot_eager")(x * 1).sum().backward()
    seen = x.grad.flatten().tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
