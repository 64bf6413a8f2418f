"""The value of a `yield from` is None instead of what the inner generator returns.

Expected: [5]. Seen: [None].
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
torch.compile(take, backend="eager")(torch.ones(1), seen)
expected = [5]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
