"""A weight requires grad in every other call: the gradients of each call follow the flag of that call."""

import torch

from conformance import call


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(1.0, 4.0))

    def forward(self, x):
        return x * self.weight


def make_program(device):
    return Scaled().to(device)


def on(module):
    module.weight.requires_grad_(True)


def off(module):
    module.weight.requires_grad_(False)


def calls(device):
    x = torch.ones(3, device=device, requires_grad=True)
    return [call(x, before=one) for one in (on, off, on)]
