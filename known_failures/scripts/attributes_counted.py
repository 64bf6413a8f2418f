"""The number of an object's attributes is read once and not guarded: a call after one more was set does not see it.

Expected: [1.0, 2.0]. Seen: [1.0, 1.0].
"""

import torch


class Held:
    def __init__(self):
        self.first = 1


def count(x, held):
    return x * len(held.__dict__)


held, compiled, seen = Held(), torch.compile(count, backend="eager"), []
seen.append(compiled(torch.ones(1), held).item())
held.second = 2
seen.append(compiled(torch.ones(1), held).item())
expected = [1.0, 2.0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
