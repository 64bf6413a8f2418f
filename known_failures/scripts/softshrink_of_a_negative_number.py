"""The sign of softshrink of numbers between -lambda and zero, which its decomposition multiplies by zero.

Expected: 0.0, as the vectorized kernel has it. Seen with `aot_eager`: -0.0.
"""

import torch


def shrunk(x):
    return torch.nn.functional.softshrink(x)


def first(program):
    return str(float(program(torch.full((32,), -0.25))[0]))


expected, seen = first(shrunk), first(torch.compile(shrunk, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
