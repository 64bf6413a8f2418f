"""A clone is edited, copied back into the input, and returned: it has memory of its own."""

import torch


def program(x):
    y = x.clone()
    y[1:] = 4
    x.copy_(y)
    return y


def calls(device):
    return [(torch.arange(5.0, device=device),)]


def after(arguments, outputs):
    outputs.zero_()
    return arguments[0]
