"""An argument that is a buffer of the frozen module is frozen with it: what is written to it later is not seen.

Expected: [4.0, 4.0, 4.0]. Seen: [2.0, 2.0, 2.0].
"""

import torch
import torch._inductor.config as config


class Scales(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return x + self.scale


module = Scales().eval()
with torch.no_grad(), config.patch(freezing=True):
    compiled = torch.compile(module)
    compiled(module.scale)
    module.scale.add_(1)
    expected, seen = module(module.scale).tolist(), compiled(module.scale).tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
