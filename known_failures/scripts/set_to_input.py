"""An intermediate that is given the memory of the detached input comes out of inductor as the input.

Expected: False. Seen: True.
"""

import torch


def set_to_input(x):
    y = x * 2
    y.set_(x.detach())
    return y, x * 3


x = torch.ones(2, 3)
expected, seen = set_to_input(x)[0] is x, torch.compile(set_to_input)(x)[0] is x
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
