"""A view squeezed in place, then a write to its base: the backward of what comes after cannot be traced.

Expected: nothing printed. Seen: RuntimeError, CloneBackward0 returned an invalid gradient, [2, 2] for [1, 2, 2, 1].
"""

import torch


def squeeze_and_write(x):
    y = x.view(x.shape)
    y.squeeze_()
    x.zero_()
    return y.clone()


x = torch.ones(1, 2, 2, 1, requires_grad=True)
torch.compile(squeeze_and_write, backend="aot_eager")(x * 1).sum().backward()
