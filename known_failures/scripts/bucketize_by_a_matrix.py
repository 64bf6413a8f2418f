"""Boundaries of two dimensions, which bucketize refuses, are met by an assertion of inductor's lowering.

Expected: RuntimeError. Seen: another exception, around an AssertionError.
"""

import torch


def raised(function):
    try:
        function(torch.ones(3), torch.ones(2, 2))
    except Exception as error:
        return type(error).__name__
    return None


expected, seen = raised(torch.bucketize), raised(torch.compile(torch.bucketize, backend="inductor"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
