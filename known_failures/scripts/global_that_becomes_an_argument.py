"""What was compiled for a global tensor beside an argument is used where the global is the argument.

Expected: 4. Seen: 3 on 2.9 with backend="aot_eager", whose graph read the global before the argument's mutation.
"""

import torch


def program(a):
    a.mul_(2)
    return a + z


z = torch.tensor([1.0])
compiled = torch.compile(program, backend="aot_eager")
compiled(torch.tensor([5.0]))
expected, seen = 4.0, compiled(z).item()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
