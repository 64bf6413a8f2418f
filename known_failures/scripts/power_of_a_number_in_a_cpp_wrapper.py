"""A number to the power of a tensor of integers: inductor's C++ wrapper calls an operator that refuses it.

Expected: tensor([4, 8, 2]). Seen: RuntimeError; on torch 2.9 numbers of another dtype.
"""

import torch
import torch._inductor.config as config


def power(x):
    return 2**x


x = torch.tensor([2, 3, 1])
expected = str(power(x))
with config.patch(cpp_wrapper=True):
    try:
        seen = str(torch.compile(power)(x))
    except RuntimeError as error:
        seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
