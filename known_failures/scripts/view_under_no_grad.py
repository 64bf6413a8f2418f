"""A view that the program takes under no_grad, of something that requires grad, comes out with history.

Expected: None twice. Seen: None, then a grad_fn.
"""

import torch


def view(x):
    with torch.no_grad():
        return x.view(6)


for program in (view, torch.compile(view, backend="aot_eager")):
    print(program(torch.ones(2, 3, requires_grad=True)).grad_fn)
