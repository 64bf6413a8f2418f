"""What a loop of no step carries comes out of inductor's C++ wrapper as the input itself: a write to it is one to both.

Expected: [1.0, 1.0, 1.0], the input as it was. Seen: [0.0, 0.0, 0.0].
"""

import torch
import torch._inductor.config as config
from torch._higher_order_ops.while_loop import while_loop


def loop(x):
    return while_loop(lambda i, one: i < 0, lambda i, one: (i + 1, one * 2), (torch.zeros((), dtype=torch.int64), x))


def input_after_write(function):
    x = torch.ones(3)
    function(x)[1].zero_()
    return x.tolist()


with torch.no_grad(), config.patch(cpp_wrapper=True):
    expected, seen = input_after_write(loop), input_after_write(torch.compile(loop))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
