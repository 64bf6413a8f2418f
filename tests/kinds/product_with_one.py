"""A product with one is a tensor of its own: writing to it leaves the input alone."""

import torch


def program(x):
    return x * 1


def calls(device):
    return [(torch.arange(4.0, device=device),)]


def after(arguments, outputs):
    outputs.add_(5)
    return arguments[0]
