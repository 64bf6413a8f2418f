"""A list that a program appends to itself contains a copy of itself afterwards.

Expected: True. Seen: False, and with torch 2.9 a RecursionError of Dynamo's.
"""

import torch


def append(x, values):
    values.append(1)
    values.append(values)
    return x + 1


values, expected = [], True
try:
    torch.compile(append, backend="eager")(torch.ones(1), values)
    seen = values[1] is values
except Exception as error:
    seen = f"{type(error).__name__}: {error}".partition("\n")[0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
