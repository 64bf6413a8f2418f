"""A generator that a program takes from until a break stands at its start after the call.

Expected: [3]. Seen: [1, 2, 3].
"""

import torch


def numbers(*values):
    yield from values


def double(x):
    return x * 2


def take(x, held):
    x = double(x)
    for number in held:
        x = x * number
        if number == 2:
            break
    return x


held = numbers(1, 2, 3)
torch.compile(take, backend="eager")(torch.ones(1), held)
expected, seen = [3], list(held)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
