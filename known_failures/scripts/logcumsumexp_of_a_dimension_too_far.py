"""The logarithm of a running sum over a dimension that the tensor does not have.

Expected: IndexError. Seen: another error, since the code for fake tensors has an assertion there.
"""

import torch


def program(x):
    return torch.logcumsumexp(x, 3)


def raised(program):
    try:
        program(torch.ones(2, 3))
    except Exception as error:
        return type(error).__name__
    return "nothing"


expected, seen = raised(program), raised(torch.compile(program, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
