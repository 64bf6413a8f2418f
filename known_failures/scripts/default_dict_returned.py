"""A `defaultdict` that a program makes of values and returns comes out empty.

Expected: ['a']. Seen on torch 2.9.1: [].
"""

import collections

import torch


def program(x):
    return collections.defaultdict(list, a=[x * 2])


expected = ["a"]
seen = list(torch.compile(program, backend="eager")(torch.ones(1)))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
