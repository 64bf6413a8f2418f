"""A write to one row of an input that is expanded is copied back to the whole input, which is refused.

Expected: [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]. Seen: RuntimeError, several elements refer to a single memory location.
"""

import torch


def write_to_row(x):
    x[0] = 7
    return x


print(torch.compile(write_to_row, backend="aot_eager")(torch.ones(3).expand(2, 3)).tolist())
