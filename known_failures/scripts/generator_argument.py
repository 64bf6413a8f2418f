"""A program that takes from a generator that it is passed is compiled in part in torch 2.13, and not at all in 2.15.

Expected: at least one graph. Seen: 0.
"""

import torch


def take(x, numbers):
    y = x * 2
    return y + next(numbers)


graphs = []
torch.compile(take, backend=lambda module, inputs: graphs.append(module) or module.forward)(
    torch.ones(2), (number for number in [1, 2])
)
print("expected: at least 1 seen:", len(graphs))
raise SystemExit(len(graphs) == 0)
