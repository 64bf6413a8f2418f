"""Several views that one operator makes of an input come out of inductor as views that the caller may write to.

Expected: eager refuses the write to one of them with a RuntimeError. Seen: inductor's outputs take the write.
"""

import torch


def chunk(x):
    return x.chunk(2)


def write(views):
    try:
        views[1].mul_(5)
    except RuntimeError:
        return "refused"
    return "written"


leaf = torch.arange(6.0).requires_grad_()
programs = (chunk, torch.compile(chunk))
expected, seen = (write(program(leaf.clone().reshape(2, 3))) for program in programs)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
