"""Several views that one operator makes of an input come out of inductor as views that the caller may write to.

Expected: eager refuses the write to one of them with a RuntimeError. Seen: inductor's outputs take the write.
"""

import torch


def chunk(x):
    return x.chunk(2)


leaf = torch.arange(6.0).requires_grad_()
for program in (chunk, torch.compile(chunk)):
    try:
        program(leaf.clone().reshape(2, 3))[1].mul_(5)
        print("written")
    except RuntimeError as error:
        print("refused:", str(error)[:60])
