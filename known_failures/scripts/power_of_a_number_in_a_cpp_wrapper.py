"""A number to the power of a tensor of integers: inductor's C++ wrapper calls an operator that refuses it.

Expected: [4, 8, 2]. Seen: RuntimeError.
"""

import torch
import torch._inductor.config as config


def power(x):
    return 2**x


x = torch.tensor([2, 3, 1])
expected = power(x).tolist()
with config.patch(cpp_wrapper=True):
    try:
        seen = torch.compile(power)(x).tolist()
    except RuntimeError as error:
        seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
