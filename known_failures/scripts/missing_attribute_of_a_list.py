"""An attribute that a list lacks raises no AttributeError where its value is not used.

Expected: ['caught']. Seen: [].
"""

import torch


def read(x, notes):
    try:
        notes.missing  # noqa: B018 - that it raises is the point
    except AttributeError:
        notes.append("caught")
    return x + 1


seen = []
torch.compile(read, backend="eager")(torch.ones(1), seen)
expected = ["caught"]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
