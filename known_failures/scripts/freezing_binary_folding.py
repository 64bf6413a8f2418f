"""Constants that freezing folds into a convolution along the wrong dimension, or without their factor.

Expected: four differences of about 0. Seen: differences of several units.
"""

import torch
import torch._inductor.config as config
from torch import nn


class Then(nn.Module):
    def __init__(self, conv, constant, operation):
        super().__init__()
        self.conv, self.operation = conv, operation
        self.register_buffer("constant", constant)

    def forward(self, x):
        return self.operation(self.conv(x), self.constant)


def three_times(y, constant):
    return torch.add(y, constant, alpha=3)


channels = torch.arange(1.0, 9.0)
programs = {
    "a row of rank 2 behind a 2d convolution": (nn.Conv2d(3, 8, 1), channels.view(1, 8), torch.mul, (2, 3, 5, 8)),
    "a row of rank 3 behind a 3d one": (nn.Conv3d(3, 8, 1), channels.view(1, 8, 1), torch.add, (2, 3, 5, 8, 4)),
    "a square transposed one": (nn.ConvTranspose2d(8, 8, 1), channels.view(1, 8, 1, 1), torch.mul, (2, 8, 5, 4)),
    "a factor of add": (nn.Conv2d(3, 8, 1), channels.view(8, 1, 1), three_times, (2, 3, 5, 4)),
}
differences = []
for name, (conv, constant, operation, shape) in programs.items():
    module, x = Then(conv, constant, operation).eval(), torch.randn(shape)
    with torch.no_grad(), config.patch(freezing=True):
        differences.append((module(x) - torch.compile(module)(x)).abs().max().item())
    print(name, "expected: about 0 seen:", differences[-1])
raise SystemExit(max(differences) > 0.01)
