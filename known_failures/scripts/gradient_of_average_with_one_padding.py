"""The gradient of an average over windows whose padding is given as a tuple of one number.

Expected: a gradient. Seen: InductorError, since the backward asks for two numbers.
"""

import torch


def average(image):
    return torch.nn.functional.avg_pool2d(image, 3, 1, (1,))


def gradient(average):
    image = torch.ones(1, 1, 4, 4, requires_grad=True)
    try:
        average(image).sum().backward()
    except Exception as error:
        return type(error).__name__
    return "a gradient"


expected, seen = gradient(average), gradient(torch.compile(average))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
