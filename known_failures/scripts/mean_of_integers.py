"""The mean of integers, which a compiled program refuses with an error that a handler of eager's does not catch.

Expected: NotImplementedError. Seen: an error that wraps a RuntimeError.
"""

import torch


def raised_by(function):
    try:
        function(torch.tensor([1, 2]))
    except Exception as error:
        return type(error)
    return None


expected, seen = raised_by(torch.mean), raised_by(torch.compile(torch.mean, backend="eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(expected not in getattr(seen, "__mro__", ()))
