"""A compiled function that counts its calls in an attribute of itself has counted one after three.

Expected: 3. Seen: 1.
"""

import torch


def program(x):
    program.calls = getattr(program, "calls", 0) + 1
    return x * 2


compiled = torch.compile(program, backend="eager")
for _ in range(3):
    compiled(torch.ones(1))
print("expected: 3 seen:", program.calls)
raise SystemExit(program.calls != 3)
