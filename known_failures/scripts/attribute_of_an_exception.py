"""An exception with an attribute that the program has set ends the compilation once it is raised by its name.

Expected: 5. Seen: AssertionError, or InternalTorchDynamoError.
"""

import torch


def catch(x, notes):
    error = ValueError("first")
    error.extra = 5
    try:
        raise error
    except ValueError as caught:
        notes.append(caught.extra)
    return x + 1


expected, notes = 5, []
try:
    torch.compile(catch, backend="eager")(torch.ones(1), notes)
    seen = notes[0]
except (AssertionError, torch._dynamo.exc.InternalTorchDynamoError) as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
