"""Of two inputs that overlap, one is expanded from a row and zeroed, compiled with symbolic sizes.

Expected: [2.0, 4.0, 0.0, 0.0]. Seen: RuntimeError, a shape error in a scatter, and with torch 2.15 one about several
elements at one memory location.
"""

import torch


def zero_and_read(x, y):
    x.zero_()
    return y * 2


numbers, expected = torch.arange(8.0), [2.0, 4.0, 0.0, 0.0]
try:
    with torch.no_grad():
        seen = torch.compile(zero_and_read, dynamic=True)(numbers[3:6].expand(2, 3), numbers[1:5]).tolist()
except RuntimeError as error:
    if "scatter" not in str(error) and "memory location" not in str(error):
        raise
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
