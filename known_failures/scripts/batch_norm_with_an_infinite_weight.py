"""Batch norm on a CPU multiplies the mean by the weight before it subtracts: an infinite weight gives NaN only.

Expected: [nan, nan, nan]. Seen: [-inf, nan, inf], what the decomposition has, which subtracts first.
"""

import torch


def normalized(x, weight):
    return torch.nn.functional.batch_norm(x, None, None, weight, None, True)


x, weight = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([float("inf")])
expected, seen = normalized(x, weight).flatten().tolist(), torch.compile(normalized)(x, weight).flatten().tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(str(seen) != str(expected))
