"""Linear interpolation between a number and infinity, which torch's decomposition computes as `v1 + (v2 - v1) * w`.

Expected: an infinity at the end. Seen with `aot_eager`: NaN, as infinity is subtracted from itself there.
"""

import torch


def program(given):
    return torch.nn.functional.interpolate(given, size=3, mode="linear")


given = torch.tensor([[[1.0, float("inf")]]])
expected, seen = (str(float(one(given)[0, 0, -1])) for one in (program, torch.compile(program, backend="aot_eager")))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
