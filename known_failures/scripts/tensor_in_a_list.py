"""Whether a tensor is in a list is a tensor, and not True.

Expected: True. Seen: tensor([True, True]).
"""

import torch


def contains(x):
    return x + 1, x in [x]


seen = torch.compile(contains, backend="eager")(torch.ones(2))[1]
expected = True
print("expected:", expected, "seen:", seen)
raise SystemExit(seen is not True)
