"""A number that is a default of a function is not guarded: a call after it was replaced computes with the old one.

Expected: [2.0, 3.0]. Seen: [2.0, 2.0].
"""

import torch


def scale(x, factor=2):
    return x * factor


def program(x):
    return scale(x)


compiled, seen = torch.compile(program, backend="eager"), []
for scale.__defaults__ in ((2,), (3,)):
    seen.append(compiled(torch.ones(1)).item())
expected = [2.0, 3.0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
