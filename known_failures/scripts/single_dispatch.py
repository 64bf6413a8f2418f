"""A program that closes over a function of `functools.singledispatch` is not traced.

Expected: 1 graph. Seen on torch 2.9.1: 0 graphs.
"""

import functools

import torch
import torch._dynamo.testing


def make():
    @functools.singledispatch
    def factor(value):
        return 2

    @factor.register
    def _(value: str):
        return len(value)

    return lambda x: x * factor("abc")


counter = torch._dynamo.testing.CompileCounter()
torch.compile(make(), backend=counter)(torch.ones(1))
expected, seen = 1, counter.frame_count
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
