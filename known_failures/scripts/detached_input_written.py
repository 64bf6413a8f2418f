"""A view and its detached alias cross a graph break, and one is written to: this does not compile.

Expected: [0.0, 0.0]. Seen: AssertionError, non-differentiable view input mutations are not handled.
"""

import torch


def write_to_alias(x):
    y = x.detach()
    torch._dynamo.graph_break()
    y.zero_()
    return x + y


expected = [0.0, 0.0]
try:
    seen = torch.compile(write_to_alias, backend="aot_eager")(torch.ones(3)[1:]).tolist()
except RuntimeError as error:
    seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
