"""A list that a program appends to itself contains a copy of itself afterwards.

Expected: True. Seen: False.
"""

import torch


def append(x, values):
    values.append(1)
    values.append(values)
    return x + 1


values = []
torch.compile(append, backend="eager")(torch.ones(1), values)
expected, seen = True, values[1] is values
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
