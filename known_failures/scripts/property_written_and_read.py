"""A property that is written and then read gives what was written, and not what its setter stored.

Expected: 6.0. Seen: 3.0.
"""

import torch


class Doubling:
    stored = 1

    @property
    def value(self):
        return self.stored

    @value.setter
    def value(self, new):
        self.stored = new * 2


def program(x, held):
    held.value = 3
    return x * held.value


expected, seen = 6.0, torch.compile(program, backend="eager")(torch.ones(1), Doubling()).item()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
