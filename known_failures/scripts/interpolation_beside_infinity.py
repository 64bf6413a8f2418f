"""Linear interpolation between a number and infinity, which torch's decomposition computes as `v1 + (v2 - v1) * w`.

Expected: an infinity at the end. Seen with `aot_eager`: NaN, as infinity is subtracted from itself there.
"""

import torch


def last(function):
    given = torch.tensor([[[1.0, float("inf")]]])
    return str(float(function(given, size=3, mode="linear")[0, 0, -1]))


interpolate = torch.nn.functional.interpolate


expected, seen = last(interpolate), last(torch.compile(interpolate, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
