"""A tensor that only the branch not taken writes to has its version counter moved.

Expected: False. Seen: True. A release that refuses such a branch does not show it.
"""

import torch


def written(x, y):
    def first(one):
        y.add_(one)
        return one * y

    return torch.cond(x.sum() > 1000, first, lambda one: one - y, (x,))


@torch.no_grad()
def version_moved(program):
    x, y = torch.ones(3), torch.ones(3)
    version = y._version
    try:
        program(x, y)
    except Exception as error:
        return type(error).__name__
    return y._version != version


expected, seen = version_moved(written), version_moved(torch.compile(written, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen is True)
