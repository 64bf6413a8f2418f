"""A tensor that is unpacked is traced as one select an element, so that the outputs are views of different kinds.

Expected: eager unbinds the tensor and refuses a write to one of the views. Seen: the compiled program's views take it.
"""

import torch


def unpacked(x):
    return (*x,)


def write(views):
    try:
        views[1].mul_(5)
    except RuntimeError:
        return "refused"
    return "written"


leaf = torch.arange(6.0).requires_grad_()
programs = (unpacked, torch.compile(unpacked, backend="eager"))
expected, seen = (write(program(leaf.clone().reshape(2, 3))) for program in programs)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
