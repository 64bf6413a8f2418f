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


expected = torch.zeros(3, 2).tolist()
try:
    with torch.no_grad():
        seen = torch.compile(write_to_view, backend="aot_eager")(torch.ones(2, 3)).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
