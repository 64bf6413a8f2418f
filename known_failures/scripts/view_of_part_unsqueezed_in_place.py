"""A view of an input that is only a part of its memory is unsqueezed in place, compiled with symbolic sizes.

Expected: [[0.0, 1.0]]. Seen with torch 2.15: RuntimeError, the size of the memory is not tracked with proxy.
"""

import torch


def unsqueeze_view(x):
    y = x[:]
    y.unsqueeze_(0)
    return y


expected = [[0.0, 1.0]]
try:
    seen = torch.compile(unsqueeze_view, backend="aot_eager", dynamic=True)(torch.arange(4.0)[:2]).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
