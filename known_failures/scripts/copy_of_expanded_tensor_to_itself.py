"""Copying an expanded tensor to itself, which does nothing in eager, is refused when its graph is made.

Expected: [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]. Seen: TorchRuntimeError.
"""

import torch


def copy_to_itself(x):
    return x.copy_(x)


expected = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
try:
    seen = torch.compile(copy_to_itself, backend="eager")(torch.ones(3).expand(2, 3)).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
