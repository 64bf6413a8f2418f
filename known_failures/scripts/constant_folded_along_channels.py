"""Freezing folds a constant of fewer dimensions into a convolution along channels, where it varies along the width.

Expected: a difference of about 0. Seen: one of several units.
"""

import torch
import torch._inductor.config


class Product(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 1)
        self.register_buffer("row", torch.arange(1.0, 9.0).view(1, 8))

    def forward(self, x):
        return self.conv(x) * self.row


torch.manual_seed(0)
module, x = Product().eval(), torch.randn(2, 3, 5, 8)
with torch.no_grad(), torch._inductor.config.patch(freezing=True):
    seen = (module(x) - torch.compile(module)(x)).abs().max().item()
print("expected: about 0 seen:", round(seen, 2))
raise SystemExit(seen > 0.01)
