"""A backend traces its graph again before inductor compiles it: the C++ wrapper asks the trace which inputs need grad.

Expected: True, the output requires grad as its input does. Seen: False.
"""

import torch
import torch._inductor.config as config
from torch._inductor.compile_fx import compile_fx
from torch.fx.experimental.proxy_tensor import make_fx


def backend(module, inputs):
    return compile_fx(make_fx(module, tracing_mode="fake")(torch.zeros(3)), inputs)


def double(x):
    return x * 2


x = torch.ones(3, requires_grad=True)
with config.patch(cpp_wrapper=True):
    expected, seen = double(x).requires_grad, torch.compile(double, backend=backend)(x).requires_grad
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
