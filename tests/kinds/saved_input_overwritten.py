"""An input that backward needs is overwritten before it runs: backward says so."""

import torch


def program(x, w):
    return (x * w).sum()


def calls(device):
    return [(torch.arange(3.0, device=device), torch.ones(3, device=device, requires_grad=True))]


BACKWARD = False


def after(arguments, outputs):
    arguments[0].add_(1)
    outputs.backward()
    return arguments[1].grad
