"""A tensor that was written to through a view comes out as a view that autograd lets nobody write to.

Expected: [4.0, 12.0]. Seen: RuntimeError, output 0 of CompiledFunction is a view and is being modified inplace.
"""

import torch


@torch.compile(backend="aot_eager")
def write_through_view(x):
    y = x + 1
    y.view(-1)[1:].mul_(3)
    return y


expected = [4.0, 12.0]
try:
    seen = write_through_view(torch.ones(2, requires_grad=True)).mul_(2).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
