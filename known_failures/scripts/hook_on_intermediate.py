"""A hook that a program registers on an intermediate breaks the graph in torch 2.9: with fullgraph=True it fails.

Expected: [4.0, 4.0]. Seen: Unsupported, a graph break.
"""

import torch


def hooked(x):
    y = x * 2
    y.register_hook(torch.neg)
    return y * y


expected = [4.0, 4.0]
try:
    seen = torch.compile(hooked, backend="eager", fullgraph=True)(torch.ones(2, requires_grad=True)).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
