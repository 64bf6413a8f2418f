"""The largest element along a dimension without elements, which eager and a compiled program refuse differently.

Expected: IndexError. Seen: an error that wraps a RuntimeError.
"""

import torch


def largest(x):
    return torch.amax(x, 1)


def raised_by(function):
    try:
        function(torch.ones(2, 0))
    except Exception as error:
        return type(error).__name__
    return "nothing"


expected, seen = raised_by(largest), raised_by(torch.compile(largest, backend="eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
