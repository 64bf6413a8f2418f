"""The value of a `yield from` is None instead of what the inner generator returns.

Expected: [5]. Seen: [None], and with torch 2.11 an AssertionError of Dynamo's.
"""

import torch


def inner():
    yield 1
    return 5


def take(x, notes):
    def outer():
        notes.append((yield from inner()))

    return x * sum(outer())


seen = []
try:
    torch.compile(take, backend="eager")(torch.ones(1), seen)
except Exception as error:
    seen = type(error).__name__
expected = [5]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
