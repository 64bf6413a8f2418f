"""What a torch function mode does is in the graph, which the backend `eager` runs under the mode again.

Expected: -1.0. Seen: 1.0.
"""

import torch
from torch.overrides import TorchFunctionMode


class Negated(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return -out if func is torch.sin else out


def sine(x):
    return torch.sin(x).sign()


compiled = torch.compile(sine, backend="eager")
with Negated():
    seen = compiled(torch.ones(1)).item()
expected = -1.0
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
