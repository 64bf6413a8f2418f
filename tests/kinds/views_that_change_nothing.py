"""Views of an intermediate with its own shape are objects of their own on one memory."""

import torch


def program(x):
    y = x + 3
    return y, y.view(2, 3), y[:]


def calls(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]
