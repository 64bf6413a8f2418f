"""A write to a leaf that requires grad is refused, after another tensor has been written."""

import torch


def program(x, leaf):
    x.add_(1)
    leaf.add_(1)
    return x


def calls(device):
    return [(torch.zeros(3, device=device), torch.zeros(3, device=device, requires_grad=True))]
