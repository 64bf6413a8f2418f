"""A view of an inference tensor crosses a graph break: with dynamic shapes, the guards on its sizes cannot be made.

Expected: [[2.0, 2.0], [2.0, 2.0]]. Seen with torch 2.13: IndexError: list index out of range.
"""

import torch


def program(x):
    with torch.inference_mode():
        y = x + 1
    z = y.t()
    with torch.inference_mode():
        w = y + float(y.detach().sum())
    return y[:, 1:], torch.full_like(z, 3), w


expected = [[2.0, 2.0], [2.0, 2.0]]
try:
    seen = torch.compile(program, backend="aot_eager", dynamic=True)(torch.ones(2, 3))[0].tolist()
except Exception as error:
    seen = f"{type(error).__name__}: {error}".partition("\n")[0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
