"""The text of a KeyError that a compiled program catches is its key, and not the repr of the key.

Expected: 'caught', with quotes. Seen: caught, without.
"""

import torch

LOG = []


def catch(x):
    try:
        raise KeyError("caught")
    except KeyError as error:
        LOG.append(str(error))
    return x + 1


for program in (catch, torch.compile(catch, backend="eager")):
    program(torch.ones(2))
expected, seen = LOG
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
