"""A transposed input is quantized."""

import torch


def program(x):
    return torch.quantize_per_tensor(x, 0.25, 1, torch.qint8).int_repr()


def calls(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3).t(),)]
