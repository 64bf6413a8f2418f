"""A tensor that is unpacked into another number of names ends the compilation, past the handler that eager takes.

Expected: 'caught'. Seen: AssertionError.
"""

import torch


def double(x):
    return x * 2


def catch(x):
    try:
        a, b = x
    except ValueError:
        return double(x)
    return a + b


expected = "caught"
try:
    torch.compile(catch, backend="eager")(torch.ones(3))
    seen = "caught"
except AssertionError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
