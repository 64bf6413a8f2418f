"""`del` of a property runs its setter, and not its deleter.

Expected: deleted. Seen on torch 2.12.1: AttributeError, there is nothing stored.
"""

import torch


class Held:
    def __init__(self):
        self.stored = 1

    @property
    def value(self):
        return self.stored

    @value.setter
    def value(self, new):
        self.stored = new

    @value.deleter
    def value(self):
        self.stored = "deleted"


def program(x, held):
    del held.value
    return x * 2


held, expected = Held(), "deleted"
torch.compile(program, backend="eager")(torch.ones(1), held)
seen = getattr(held, "stored", "nothing")
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
