"""A float argument is guarded by equality: -0.0 is served by what was compiled for 0.0.

Expected: ['0.0', '-0.0']. Seen: ['0.0', '0.0'].
"""

import torch


def scale(x, number):
    return x * number


compiled = torch.compile(scale, backend="eager")
expected = ["0.0", "-0.0"]
seen = [str(compiled(torch.ones(1), number).item()) for number in (0.0, -0.0)]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
