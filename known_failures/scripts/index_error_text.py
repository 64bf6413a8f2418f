"""The text of the IndexError of a list, which the program catches and asks for, ends the compilation.

Expected: ['list index out of range']. Seen: InternalTorchDynamoError: a str has no attribute as_python_constant.
"""

import torch


def catch(x, notes):
    try:
        [1, 2][5]
    except IndexError as error:
        notes.append(str(error))
    return x + 1


expected, seen = ["list index out of range"], []
try:
    torch.compile(catch, backend="eager")(torch.ones(1), seen)
except Exception as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
