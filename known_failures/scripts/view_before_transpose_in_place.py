"""A view of an intermediate that is transposed in place afterwards cannot come out of a compiled program with it.

Expected: [(3, 2), (6,)]. Seen: BackendCompilerFailed.
"""

import torch


def flat_and_transposed(x):
    y = x * 2
    flat = y.view(6)
    y.t_()
    return y, flat


x = torch.ones(2, 3, requires_grad=True)
expected = [(3, 2), (6,)]
try:
    seen = [tuple(one.shape) for one in torch.compile(flat_and_transposed, backend="aot_eager")(x)]
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
