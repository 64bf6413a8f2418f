"""An index past the end, which eager refuses with IndexError and a kernel's assertion with RuntimeError.

Expected: IndexError. Seen: RuntimeError.
"""

import torch


def take_rows(x, rows):
    return x.index_select(0, rows)


def raised_by(function):
    try:
        function(torch.ones(2, 3), torch.tensor([3]))
    except Exception as error:
        return type(error).__name__
    return "nothing"


expected, seen = raised_by(take_rows), raised_by(torch.compile(take_rows))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
