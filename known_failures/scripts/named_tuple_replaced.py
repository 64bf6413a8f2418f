"""What _replace() of a named tuple returns comes out empty.

Expected: [5, 2]. Seen: [], or an AssertionError.
"""

import collections

import torch

Named = collections.namedtuple("Named", "a b")


def replace(x, held):
    return x * 2, held._replace(a=5)


expected = [5, 2]
try:
    seen = list(torch.compile(replace, backend="eager")(torch.ones(1), Named(1, 2))[1])
except AssertionError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
