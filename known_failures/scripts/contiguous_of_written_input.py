"""A strided input that is written to and requires grad is traced as a copy without gaps, which is contiguous already.

So contiguous() makes no copy, and the write to the input changes its result. Where the result is detached in place, as
it is no view in eager, compilation fails. Expected: [1.0, 3.0]. Seen: [2.0, 6.0].
"""

import torch


def contiguous_then_write(x):
    y = x.contiguous()
    x.mul_(2)
    return y + 0


def result(program):
    buffer = torch.arange(1.0, 5.0).requires_grad_() * 1
    return program(buffer[::2]).tolist()


expected = result(contiguous_then_write)
seen = result(torch.compile(contiguous_then_write, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
