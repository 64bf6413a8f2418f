"""Called with gradients off, a program turns them on to write to an input that overlaps another: it does not compile.

Expected: [3.0, 3.0]. Seen: RuntimeError, a view was created in no_grad mode and modified with grad mode enabled.
"""

import torch


def write_with_gradients(x, y):
    with torch.enable_grad():
        x.mul_(2)
    return y + 1


x = torch.ones(3, requires_grad=True) * 1
y, expected = x[1:], [3.0, 3.0]
try:
    with torch.no_grad():
        seen = torch.compile(write_with_gradients, backend="aot_eager")(x, y).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
