"""A frozen program of which nothing but constants is left returns the constants: the same ones in each call.

Expected: [2.0, 2.0, 2.0]. Seen: [0.0, 0.0, 0.0], what the caller wrote to the first call's result.
"""

import torch
import torch._inductor.config as config


class OnlyConstants(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))

    def forward(self):
        return self.scale * 2


module = OnlyConstants().eval()
with torch.no_grad(), config.patch(freezing=True):
    compiled = torch.compile(module)
    compiled().zero_()
    expected, seen = module().tolist(), compiled().tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
