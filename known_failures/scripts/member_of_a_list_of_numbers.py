"""Whether a number is in a list is not guarded once the list's numbers are symbols.

Expected: [2.0, 3.0, 2.0]. Seen: [2.0, 3.0, 3.0].
"""

import torch


def choose(x, numbers):
    return x * 2 if 2 in numbers else x * 3


compiled = torch.compile(choose, backend="eager")
expected = [2.0, 3.0, 2.0]
seen = [compiled(torch.ones(1), numbers).item() for numbers in ([1, 2], [1, 3], [1, 2])]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
