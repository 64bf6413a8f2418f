"""A view that the program takes under no_grad, of something that requires grad, comes out with history.

Expected: None. Seen: a grad_fn.
"""

import torch


def view(x):
    with torch.no_grad():
        return x.view(6)


x = torch.ones(2, 3, requires_grad=True)
expected, seen = view(x).grad_fn, torch.compile(view, backend="aot_eager")(x).grad_fn
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
