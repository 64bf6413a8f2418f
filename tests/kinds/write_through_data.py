"""A write through `.data` reaches the parameter and leaves its version counter alone."""

import torch


def program(x):
    x.data.add_(2)
    return x * 3


def calls(device):
    return [(torch.arange(4.0, device=device, requires_grad=True),)]
