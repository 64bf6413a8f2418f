"""An input that requires grad and is indexed by randperm does not compile, with random numbers as in eager.

Expected: a shape. Seen: RuntimeError, not all inputs to pattern found in match.kwargs.
"""

import torch
import torch._inductor.config as config


def permuted(x):
    return x[torch.randperm(4)]


with config.patch(fallback_random=True):
    print(torch.compile(permuted)(torch.rand(4, 6, requires_grad=True)).shape)
