"""One input is written, and what comes out is a view of another input that overlaps it."""

import torch


def program(written, other):
    written.mul_(3)
    return other[2]


def calls(device):
    buffer = torch.arange(15.0, device=device).reshape(5, 3)
    return [(buffer[:4], buffer[1:])]
