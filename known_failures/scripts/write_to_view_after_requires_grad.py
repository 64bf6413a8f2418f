"""With gradients off, a write to a view of a tensor that was told to require grad does not compile with aot_eager.

Expected: zeros. Seen: RuntimeError, a view created in no_grad mode is modified in place with grad mode enabled.
"""

import torch


def write_to_view(x):
    y = x + 1
    y.requires_grad_()
    z = y.t()
    z.zero_()
    return z


with torch.no_grad():
    print(torch.compile(write_to_view, backend="aot_eager")(torch.ones(2, 3)))
