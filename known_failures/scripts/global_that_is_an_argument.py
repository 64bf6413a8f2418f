"""What was compiled while a global tensor was the argument is used for another argument.

Expected: 12. Seen: 20, the global taken to be the argument still.
"""

import torch


def program(a, b):
    a.mul_(2)
    return a + b + z


z = torch.tensor([1.0])
compiled = torch.compile(program, backend="eager")
compiled(z, torch.tensor([0.0]))
expected, seen = 5 * 2 + z.item(), compiled(torch.tensor([5.0]), torch.tensor([0.0])).item()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
