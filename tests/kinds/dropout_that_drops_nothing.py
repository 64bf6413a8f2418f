"""Dropout out of training returns its input, which is written afterwards."""

import torch


def program(x):
    kept = torch.nn.functional.dropout(x, 0.3, training=False)
    kept.add_(1)
    return kept.sum()


def calls(device):
    return [(torch.arange(4.0, device=device),)]
