"""A tensor is indexed by one of floats, which eager and a compiled program refuse with different exceptions.

Expected: IndexError. Seen: TorchRuntimeError.
"""

import torch


def index(x, y):
    return x[y]


def raised_by(function):
    try:
        function(torch.ones(3), torch.ones(1))
    except Exception as error:
        return type(error).__name__
    return "nothing"


expected, seen = raised_by(index), raised_by(torch.compile(index, backend="eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
