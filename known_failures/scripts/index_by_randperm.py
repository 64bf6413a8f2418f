"""An input that requires grad and is indexed by randperm does not compile, with random numbers as in eager.

Expected: (4, 6). Seen: RuntimeError, not all inputs to pattern found in match.kwargs.
"""

import torch
import torch._inductor.config as config


def permuted(x):
    return x[torch.randperm(4)]


expected = (4, 6)
try:
    with config.patch(fallback_random=True):
        seen = tuple(torch.compile(permuted)(torch.rand(4, 6, requires_grad=True)).shape)
except RuntimeError as error:
    if "match.kwargs" not in str(error):
        raise
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
