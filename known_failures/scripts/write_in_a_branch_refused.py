"""A branch of `torch.cond` that writes to what it captures is refused, and the frame around it is left to eager.

Expected: ok. Seen on torch 2.9.1 and 2.11.0: UncapturedHigherOrderOpError.
"""

import torch


def program(x, y):
    def write():
        y.add_(1)
        return x * y

    return torch.cond(x.sum() > 0, write, lambda: x * 2)


try:
    with torch.no_grad():
        torch.compile(program, backend="eager", fullgraph=True)(torch.ones(3), torch.ones(3))
    seen = "ok"
except Exception as error:
    seen = type(error).__name__
print("expected: ok seen:", seen)
raise SystemExit(seen != "ok")
