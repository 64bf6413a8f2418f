"""A write to one row of an input whose rows share elements is not seen in the other row, once its data is zeroed.

Expected: [3.0, 4.0, 5.0, 4.0, 5.0, 3.0]. Seen with torch 2.15: [3.0, 4.0, 5.0, 1.0, 2.0, 3.0].
"""

import torch


def write_to_row_and_zero(x):
    y = torch.nn.functional.dropout(x.data, 0.5, training=False)
    x[0].add_(3)
    flat = x.reshape(-1)
    with torch.enable_grad():
        y.zero_()
    return torch.full_like(y, 3), flat


x = torch.arange(4.0).requires_grad_() * 1
with torch.no_grad():
    print(torch.compile(write_to_row_and_zero, backend="aot_eager")(x.unfold(0, 3, 1))[1].tolist())
