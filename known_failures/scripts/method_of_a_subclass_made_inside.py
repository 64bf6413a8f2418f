"""A tensor that the program makes of a class has a method called that reads an attribute of the class: no compilation.

Expected: 3.0. Seen: InternalTorchDynamoError.
"""

import torch


class Plain(torch.Tensor):
    factor = 3

    def scaled(self):
        return self * self.factor


def inside(x):
    return x.as_subclass(Plain).scaled().as_subclass(torch.Tensor)


expected = 3.0
try:
    seen = torch.compile(inside, backend="eager")(torch.ones(1)).item()
except torch._dynamo.exc.InternalTorchDynamoError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
