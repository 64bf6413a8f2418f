"""With inductor's fallback_random, bernoulli on CUDA still draws other numbers than eager from the same seed.

Expected: the same numbers. Seen: others.
"""

import torch
import torch._inductor.config

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)
torch._inductor.config.fallback_random = True


def program(x):
    return torch.bernoulli(torch.full_like(x, 0.5))


def drawn(program):
    torch.manual_seed(0)
    return program(torch.zeros(24, device="cuda")).tolist()


expected, seen = drawn(program), drawn(torch.compile(program))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
