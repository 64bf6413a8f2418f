"""A dimension that a tensor lacks is refused by narrow_copy with a RuntimeError, and with an IndexError once compiled.

Expected: RuntimeError. Seen: IndexError, wrapped or not.
"""

import torch


def program(x):
    return torch.narrow_copy(x, 10, 0, 1)


def raised(function):
    try:
        function(torch.ones(2, 2))
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        return type(error).__name__
    return None


expected, seen = raised(program), raised(torch.compile(program, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
