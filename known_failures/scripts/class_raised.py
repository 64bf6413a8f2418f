"""An exception that is raised by its class has the class among its args: its text is that of the class.

Expected: ''. Seen: "<class 'ValueError'>".
"""

import torch


def catch(x, notes):
    try:
        raise ValueError
    except ValueError as error:
        notes.append(str(error))
    return x + 1


notes = []
torch.compile(catch, backend="eager")(torch.ones(1), notes)
expected, seen = "", notes[0]
print("expected:", repr(expected), "seen:", repr(seen))
raise SystemExit(seen != expected)
