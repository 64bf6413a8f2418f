"""A strided input that is written to and requires grad is traced as a copy without gaps, which is contiguous already.

So contiguous() makes no copy, and the write to the input changes its result: expected [1.0, 3.0] twice, seen
[1.0, 3.0], then [2.0, 6.0]. Where the result is detached in place, as it is no view in eager, compilation fails.
"""

import torch


def contiguous_then_write(x):
    y = x.contiguous()
    x.mul_(2)
    return y + 0


for program in (contiguous_then_write, torch.compile(contiguous_then_write, backend="aot_eager")):
    buffer = torch.arange(1.0, 5.0).requires_grad_() * 1
    print(program(buffer[::2]).tolist())
