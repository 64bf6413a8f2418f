"""A view of an input that is transposed in place moves the input's version counter in eager, and not when compiled.

Expected: 1 twice. Seen: 1, then 0.
"""

import torch


def transposed_view(x):
    y = x.view(3, 2)
    y.t_()
    return y


for program in (transposed_view, torch.compile(transposed_view, backend="aot_eager")):
    x = torch.ones(2, 3)
    program(x)
    print(x._version)
