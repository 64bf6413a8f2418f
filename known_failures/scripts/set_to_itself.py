"""An intermediate that is set to the memory it has already, which changes nothing, can no longer be written to.

Expected: [2.0, 2.0]. Seen: RuntimeError, cannot mutate tensors with frozen storage.
"""

import torch


def set_and_write(x):
    y = x + 1
    y.set_(y)
    y.mul_(2)
    return y


expected = [2.0, 2.0]
try:
    seen = torch.compile(set_and_write, backend="aot_eager")(torch.zeros(2)).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
