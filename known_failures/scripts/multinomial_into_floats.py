"""Draws are written into a tensor of floats, which eager refuses, since they are integers.

Expected: RuntimeError. Seen: None.
"""

import torch


def program(weights, result):
    return torch.multinomial(weights, 2, out=result)


def raised(function):
    try:
        function(torch.ones(4), torch.empty(2))
    except Exception as error:
        return type(error).__name__
    return None


expected, seen = raised(program), raised(torch.compile(program, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
