"""A result of slice_scatter that is written to comes out with other strides where a dimension has size 1.

Expected: (2, 1). Seen: (3, 1).
"""

import torch


def scatter_and_add(x):
    part = x[::2]
    return torch.slice_scatter(part, part[1:], 0, 1).add_(1)


x = torch.ones(4).unfold(0, 3, 1)
expected, seen = scatter_and_add(x).stride(), torch.compile(scatter_and_add, backend="aot_eager")(x).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
