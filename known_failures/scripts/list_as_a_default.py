"""A list that is a default of a function is another one in each call: what a call appends is lost.

Expected: [1, 1]. Seen: [].
"""

import torch


def note(x, notes=[]):  # noqa: B006 - it is what this is about
    notes.append(1)
    return x * len(notes)


def program(x):
    return note(x), note(x)


torch.compile(program, backend="eager")(torch.ones(1))
expected, seen = [1, 1], note.__defaults__[0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
