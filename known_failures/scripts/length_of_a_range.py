"""The length of a range that is an argument fails the compilation once its end is a symbol.

Expected: [2.0, 3.0]. Seen: InternalTorchDynamoError.
"""

import torch


def scale(x, numbers):
    return x * len(numbers)


compiled = torch.compile(scale, backend="eager")
expected = [2.0, 3.0]
try:
    seen = [compiled(torch.ones(1), range(size)).item() for size in (2, 3)]
except Exception as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
