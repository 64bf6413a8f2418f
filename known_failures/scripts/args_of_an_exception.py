"""The args of an exception that the program catches are a list, and not a tuple.

Expected: ('first',). Seen: ['first'].
"""

import torch


def catch(x, notes):
    try:
        raise ValueError("first")
    except ValueError as error:
        notes.append(error.args)
    return x + 1


notes = []
torch.compile(catch, backend="eager")(torch.ones(1), notes)
expected, seen = ("first",), notes[0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
