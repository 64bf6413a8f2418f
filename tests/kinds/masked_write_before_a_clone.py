"""An input is written through a mask, and a clone of it is written through the same mask again."""

import torch


def program(x, mask):
    x[mask] = 7
    y = x.clone()
    y[mask] += 2
    return y


def calls(device):
    return [(torch.arange(6.0, device=device), torch.tensor([True, False, True, False, True, False], device=device))]
