"""Which of two NaN in a window is its largest element.

Expected: the index of the last one. Seen: that of the first.
"""

import torch


def largest(image):
    return torch.nn.functional.max_pool2d(image, 2, return_indices=True)[1]


nan = float("nan")
image = torch.tensor([[[[1.0, nan], [nan, 2.0]]]])


expected, seen = int(largest(image)), int(torch.compile(largest)(image))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
