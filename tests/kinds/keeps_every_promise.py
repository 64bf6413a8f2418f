"""Writes, views, duplicates, containers and a graph break, all of which torch compiles as it should."""

import torch


def program(x, y, box):
    x.mul_(2)
    y[1:].add_(x[1:])
    box["sum"] = x + y
    if x.sum() > 0:
        box["count"] += 1
    return x.t(), (y + 1, y), box


def calls(device):
    grid = torch.arange(6.0, device=device).reshape(2, 3)
    return [(grid, grid.clone(), {"count": 0}), (grid, grid, {"count": 1})]
