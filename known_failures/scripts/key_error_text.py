"""The text of a KeyError that a compiled program catches is its key, and not the repr of the key.

Expected: "'caught'" twice. Seen: "'caught'", then "caught".
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
print(LOG)
