"""Whether a tensor that is split into one part, without the mark of a view, is that tensor.

Expected: False, a new tensor. Seen: True, the input itself.
"""

import torch


def parts(x):
    return torch.unsafe_split(x, 3)


x = torch.ones(3)


expected, seen = parts(x)[0] is x, torch.compile(parts)(x)[0] is x
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
