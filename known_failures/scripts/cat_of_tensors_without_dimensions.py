"""Tensors without dimensions are joined, which eager refuses with RuntimeError; for fake tensors an index fails first.

Expected: RuntimeError. Seen: an error that wraps an IndexError.
"""

import torch


def join(x, y):
    return torch.cat([x, y])


def raised_by(function):
    try:
        function(torch.ones(()), torch.ones(()))
    except Exception as error:
        inner = getattr(error, "inner_exception", None) or error.__cause__ or error
        return type(inner).__name__
    return "nothing"


expected, seen = raised_by(join), raised_by(torch.compile(join, backend="eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
