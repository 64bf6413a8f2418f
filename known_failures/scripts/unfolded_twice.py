"""What is unfolded twice comes out as a copy with strides of its own, where eager returns a view that overlaps itself.

Expected: (4, 1, 1, 4). Seen: (12, 3, 1, 6).
"""

import torch


def windows(x):
    return (x * x).unfold(1, 3, 1).unfold(0, 2, 1)


x = torch.arange(12.0).reshape(3, 4)
expected, seen = windows(x).stride(), torch.compile(windows, backend="inductor")(x).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
