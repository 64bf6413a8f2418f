"""Eager's random numbers in a checkpointed region: the C++ wrapper has no code for the operator that saves their state.

Expected: a gradient. Seen: InductorError.
"""

import torch
import torch._inductor.config as config
from torch.utils.checkpoint import checkpoint


def noisy(x):
    return checkpoint(lambda x: (x * torch.rand_like(x)).sin(), x, use_reentrant=False)


x = torch.ones(3, requires_grad=True)
with config.patch(cpp_wrapper=True, fallback_random=True):
    try:
        torch.compile(noisy)(x).sum().backward()
        seen = "a gradient"
    except Exception as error:
        seen = type(error).__name__
print("expected: a gradient seen:", seen)
raise SystemExit(seen != "a gradient")
