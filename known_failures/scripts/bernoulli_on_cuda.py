"""With inductor's fallback_random, bernoulli on CUDA still draws other numbers than eager from the same seed."""

import torch
import torch._inductor.config

torch._inductor.config.fallback_random = True


def program(x):
    return torch.bernoulli(torch.full_like(x, 0.5))


drawn = []
for one in (program, torch.compile(program)):
    torch.manual_seed(0)
    drawn.append(one(torch.zeros(24, device="cuda")))
assert torch.equal(*drawn), drawn
