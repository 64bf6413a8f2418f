"""A result that can be differentiated twice in eager can be here."""

import torch


def program(x):
    return x * x * x


def calls(device):
    return [(torch.arange(1.0, 4.0, device=device, requires_grad=True),)]


BACKWARD = False


def after(arguments, outputs):
    [first] = torch.autograd.grad(outputs.sum(), arguments[0], create_graph=True)
    return torch.autograd.grad(first.sum(), arguments[0])
