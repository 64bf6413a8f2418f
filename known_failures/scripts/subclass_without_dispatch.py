"""A tensor of a subclass that adds a method and no rule is refused by the analysis of custom operators.

Expected: 2.0. Seen: TypeError, Multiple dispatch failed.
"""

import torch


class Plain(torch.Tensor):
    pass


def double(x, y):
    return x * 2 + y * 0


expected = 2.0
try:
    seen = torch.compile(double, backend="aot_eager")(torch.ones(1).as_subclass(Plain), torch.ones(1)).item()
except TypeError as error:
    seen = repr(error)[:60]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
