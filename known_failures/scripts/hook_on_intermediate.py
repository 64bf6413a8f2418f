"""A hook that a program registers on an intermediate breaks the graph in torch 2.9: with fullgraph=True it fails."""

import torch


def hooked(x):
    y = x * 2
    y.register_hook(torch.neg)
    return y * y


torch.compile(hooked, backend="eager", fullgraph=True)(torch.ones(2, requires_grad=True))
