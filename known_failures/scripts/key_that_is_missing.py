"""The KeyError of a dictionary that lacks a key has words of Dynamo's, or nothing, for its argument, and not the key.

Expected: ['b']. Seen: a sentence, or [].
"""

import torch


def catch(x, notes):
    try:
        {"a": 1}["b"]
    except KeyError as error:
        notes.extend(error.args)
    return x + 1


expected, seen = ["b"], []
torch.compile(catch, backend="eager")(torch.ones(1), seen)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
