"""An input that is expanded from one row is zeroed, compiled with symbolic sizes.

Expected: zeros twice. Seen: zeros, then an error about the shapes of a scatter.
"""

import torch


def zero(x):
    return x.zero_() + 1


for program in (zero, torch.compile(zero, dynamic=True)):
    with torch.no_grad():
        print(program(torch.arange(6.0)[2:5].expand(2, 3)))
