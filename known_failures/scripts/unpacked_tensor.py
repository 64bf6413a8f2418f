"""A tensor that is unpacked is traced as one select an element, so that the outputs are views of different kinds.

Expected: eager unbinds the tensor and refuses a write to one of the views. Seen: the compiled program's views take it.
"""

import torch


def unpacked(x):
    return (*x,)


leaf = torch.arange(6.0).requires_grad_()
for program in (unpacked, torch.compile(unpacked, backend="eager")):
    try:
        program(leaf.clone().reshape(2, 3))[1].mul_(5)
        print("written")
    except RuntimeError as error:
        print("refused:", str(error)[:60])
