"""The contiguous form of a contiguous input is the input, which gets another dimension in place."""

import torch


def program(x):
    same = x.contiguous()
    same.unsqueeze_(1)
    return x


def calls(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]
