"""Of two inputs that overlap, one is expanded from a row and zeroed, compiled with symbolic sizes.

Expected: 2, 4, 0, 0 twice. Seen: that, then an error about the shapes of a scatter.
"""

import torch


def zero_and_read(x, y):
    x.zero_()
    return y * 2


for program in (zero_and_read, torch.compile(zero_and_read, dynamic=True)):
    with torch.no_grad():
        numbers = torch.arange(8.0)
        print(program(numbers[3:6].expand(2, 3), numbers[1:5]))
