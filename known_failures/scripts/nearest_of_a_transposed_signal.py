"""The strides of a transposed signal that is resampled to the nearest.

Expected: contiguous. Seen with `aot_eager`: the order of the input's strides.
"""

import torch


def program(signal):
    return torch.nn.functional.interpolate(signal, size=3, mode="nearest")


signal = torch.ones(2, 3, 2).permute(2, 1, 0).contiguous().permute(2, 1, 0)
expected, seen = (one(signal).stride() for one in (program, torch.compile(program, backend="aot_eager")))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
