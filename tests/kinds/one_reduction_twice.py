"""The same reduction, computed twice, gives two tensors that may be written one at a time."""

import torch


def program(x):
    return x.max(1).values, x.max(1).values


def calls(device):
    return [(torch.tensor([[3.0, 1.0], [2.0, 5.0]], device=device, requires_grad=True),)]
