"""What a program appends to a list that it reads from a class is lost.

Expected: [1]. Seen: [].
"""

import torch


class Held:
    notes = []


def note(x):
    Held.notes.append(1)
    return x + 1


torch.compile(note, backend="eager")(torch.ones(1))
expected, seen = [1], Held.notes
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
