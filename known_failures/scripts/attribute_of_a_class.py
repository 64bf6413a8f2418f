"""A number that is read from a class is baked in and not guarded: a call after the class got another does not see it.

Expected: [2.0, 3.0]. Seen: [2.0, 2.0].
"""

import torch


class Settings:
    factor = 2


def scale(x):
    return x * Settings.factor


compiled, seen = torch.compile(scale, backend="eager"), []
for Settings.factor in (2, 3):
    seen.append(compiled(torch.ones(1)).item())
expected = [2.0, 3.0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
