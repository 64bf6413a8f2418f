"""The body of a `while_loop` that writes to what it captures is refused, and the frame around it is left to eager.

Expected: ok. Seen up to torch 2.12.1: UncapturedHigherOrderOpError.
"""

import torch
from torch._higher_order_ops import while_loop


def program(x, y):
    def write(i, x):
        y.add_(1)
        return i + 1, x * y

    return while_loop(lambda i, x: i < 2, write, (torch.tensor(0), x))


try:
    with torch.no_grad():
        torch.compile(program, backend="eager", fullgraph=True)(torch.ones(3), torch.ones(3))
    seen = "ok"
except Exception as error:
    seen = type(error).__name__
print("expected: ok seen:", seen)
raise SystemExit(seen != "ok")
