"""An intermediate that is transposed in place, and a view of it, cannot come out of a compiled program.

Expected: [(3, 2), (2,)]. Seen: AssertionError, incorrect out shape after application of ViewMeta sequence.
"""

import torch


def transposed_and_row(x):
    y = x * 2
    y.transpose_(0, 1)
    return y, y[0]


x = torch.ones(2, 3, requires_grad=True)
expected = [(3, 2), (2,)]
try:
    seen = [tuple(one.shape) for one in torch.compile(transposed_and_row, backend="aot_eager")(x)]
except AssertionError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
