"""The gradients of a convolution have the layout of its contiguous inputs, also where a layout is forced inside."""

import torch

CONFIG = {"inductor.force_layout_optimization": True}
BACKWARD = False


def program(x, weight):
    return torch.nn.functional.conv2d(x, weight, padding=1)


def calls(device):
    x = torch.arange(2.0 * 4 * 5 * 5, device=device).reshape(2, 4, 5, 5) % 5
    weight = torch.arange(4.0 * 4 * 3 * 3, device=device).reshape(4, 4, 3, 3) % 3
    return [(x.requires_grad_(), weight.requires_grad_())]


def after(arguments, outputs):
    return torch.autograd.grad(outputs, arguments, torch.ones_like(outputs))
