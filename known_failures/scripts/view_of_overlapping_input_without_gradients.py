"""With gradients off, a view of one input is taken before another that overlaps it is written to.

Expected: an error about a modified view twice. Seen: the error, then the view, which passes for a leaf.
"""

import torch


def view_then_write(x, y):
    view = x.view(2, 2)
    y.add_(1)
    return view


def double(program):
    base = torch.ones(4, requires_grad=True) * 1
    with torch.no_grad():
        view = program(base[:], base[:])
    try:
        return (view * 2).tolist()
    except RuntimeError as error:
        return str(error)[:70]


expected, seen = (double(program) for program in (view_then_write, torch.compile(view_then_write, backend="aot_eager")))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
