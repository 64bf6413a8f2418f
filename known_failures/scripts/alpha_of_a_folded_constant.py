"""Freezing folds a constant that is added to a convolution without the alpha that it is multiplied by.

Expected: a difference of about 0. Seen: one of several units.
"""

import torch
import torch._inductor.config


class Sum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 1)
        self.register_buffer("constant", torch.arange(1.0, 9.0).view(8, 1, 1))

    def forward(self, x):
        return torch.add(self.conv(x), self.constant, alpha=3)


torch.manual_seed(0)
module, x = Sum().eval(), torch.randn(2, 3, 5, 4)
with torch.no_grad(), torch._inductor.config.patch(freezing=True):
    seen = (module(x) - torch.compile(module)(x)).abs().max().item()
print("expected: about 0 seen:", round(seen, 2))
raise SystemExit(seen > 0.01)
