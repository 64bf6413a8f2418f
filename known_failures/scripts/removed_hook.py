"""A hook that a program registers on an intermediate and removes at once ends the compilation in an AssertionError."""

import torch


def removed_hook(x):
    y = x * 2
    y.register_hook(torch.neg).remove()
    return y + 1


torch.compile(removed_hook, backend="eager")(torch.ones(2, requires_grad=True))
