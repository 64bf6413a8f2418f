"""A parameter that the program makes of an intermediate shares its memory: writing to one shows in the other."""

import torch


def program(x):
    y = x + 1
    parameter = torch.nn.Parameter(y)
    with torch.no_grad():
        parameter.add_(10)
    return y * parameter


def calls(device):
    return [(torch.arange(3.0, device=device, requires_grad=True),)]
