"""Inductor refuses the graph of a scan over an input that requires grad: its number of steps is read from no data.

Expected: no graph is refused. Seen: one, and an InductorError; torch 2.9 refuses four and leaves the frame to eager.
"""

import torch
from torch._dynamo.utils import counters
from torch._higher_order_ops import scan


def running_sum(x):
    return scan(lambda total, row: (total + row, total * row), x[0].clone(), x)[0]


raised = "no exception"
try:
    torch.compile(running_sum)(torch.ones(3, 3, requires_grad=True)).sum().backward()
except Exception as error:
    raised = type(error).__name__
refused = counters["aot_autograd"]["not_ok"]
print("expected: 0 graphs refused seen:", refused, "graphs refused and", raised)
raise SystemExit(refused > 0)
