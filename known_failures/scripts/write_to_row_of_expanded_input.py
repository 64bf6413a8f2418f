"""A write to one row of an input that is expanded is copied back to the whole input, which is refused.

Expected: [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]. Seen: RuntimeError, several elements refer to a single memory location.
"""

import torch


def write_to_row(x):
    x[0] = 7
    return x


expected = [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]
try:
    seen = torch.compile(write_to_row, backend="aot_eager")(torch.ones(3).expand(2, 3)).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
