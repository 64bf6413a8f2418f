"""The KeyError of a dictionary that lacks a key has words of Dynamo's, or nothing, for its argument, and not the key.

Expected: ['b']. Seen: a sentence, [], or an AssertionError of Dynamo's.
"""

import torch


def catch(x, notes):
    try:
        {"a": 1}["b"]
    except KeyError as error:
        notes.extend(error.args)
    return x + 1


expected, seen = ["b"], []
try:
    torch.compile(catch, backend="eager")(torch.ones(1), seen)
except AssertionError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
