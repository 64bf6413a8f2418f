"""A view that the program takes under no_grad, of an input that is itself a view, comes out with history.

It cannot be resized then. Expected: torch.Size([2]) twice. Seen: torch.Size([2]), then an error.
"""

import torch


def view_then_resize(x):
    with torch.no_grad():
        view = x.view(-1)
    return view.resize_(2)


def size_of(program):
    try:
        return program(torch.ones(4)[:].requires_grad_()).shape
    except RuntimeError as error:
        return str(error)


expected, seen = (
    size_of(program) for program in (view_then_resize, torch.compile(view_then_resize, backend="aot_eager"))
)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
