"""A parameter that is converted between forward and backward is read in the backward as if it had its old dtype.

Expected: [2.0, 2.0]. Seen: other numbers.
"""

import torch

weight = torch.nn.Parameter(torch.full((2,), 2.0))
x = torch.ones(2, requires_grad=True)
y = torch.compile(lambda x: x * weight)(x)
weight.data = weight.data.double()
y.sum().backward()
expected, seen = [2.0, 2.0], x.grad.tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
