"""A dimension of size 1 is put in front of an intermediate that is stored transposed.

Expected: (2, 1, 2) twice. Seen: (2, 1, 2), then (6, 1, 2).
"""

import torch


def unsqueeze(x):
    return (x + 1).unsqueeze(0)


for program in (unsqueeze, torch.compile(unsqueeze)):
    print(program(torch.arange(6.0).view(3, 2).t()).stride())
