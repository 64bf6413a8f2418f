"""A write through windows that leave out every third element of the input."""

import torch


def program(x):
    x.unfold(0, 2, 3).add_(10)
    return x + 1


def calls(device):
    return [(torch.arange(8.0, device=device),)]
