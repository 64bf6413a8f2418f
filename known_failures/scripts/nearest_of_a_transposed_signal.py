"""The strides of a transposed signal that is resampled to the nearest.

Expected: contiguous. Seen with `aot_eager`: the order of the input's strides.
"""

import torch


def strides(function):
    signal = torch.ones(2, 3, 2).permute(2, 1, 0).contiguous().permute(2, 1, 0)
    return function(signal, size=3, mode="nearest").stride()


interpolate = torch.nn.functional.interpolate


expected, seen = strides(interpolate), strides(torch.compile(interpolate, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
