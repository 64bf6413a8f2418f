"""Adding a tensor of zeros to an input gives the input itself.

Expected: False. Seen: True, so that a write to the output changes the input.
"""

import torch


def add_zeros(x):
    return x + torch.zeros(3)


x = torch.ones(2, 3)
expected, seen = add_zeros(x) is x, torch.compile(add_zeros)(x) is x
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
