"""Two overlapping inputs with history are both written to, and a view of one is returned: this does not compile.

Expected: [2.0, 8.0, 8.0]. Seen: AssertionError, outs_to_grad length (1) != tangents length (2).
"""

import torch


def write_to_both(x, y):
    x.add_(3)
    y.mul_(2)
    return y.view(-1)


buffer = torch.ones(6).requires_grad_() * 1
expected = [2.0, 8.0, 8.0]
try:
    seen = torch.compile(write_to_both, backend="aot_eager")(buffer[1:4], buffer[:3]).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
