"""An attribute that a tensor lacks ends the compilation, past the handler that eager takes.

Expected: 'caught'. Seen: InternalTorchDynamoError.
"""

import torch


def double(x):
    return x * 2


def catch(x):
    try:
        return x.no_such_method()
    except AttributeError:
        return double(x)


expected = "caught"
try:
    torch.compile(catch, backend="eager")(torch.ones(1))
    seen = "caught"
except torch._dynamo.exc.InternalTorchDynamoError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
