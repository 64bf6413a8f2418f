"""What is computed in a region of inference mode comes out as a normal tensor.

Expected: True. Seen: False.
"""

import torch


def region(x):
    with torch.inference_mode():
        return x + 1


programs = (region, torch.compile(region, backend="aot_eager"))
expected, seen = (program(torch.ones(3)).is_inference() for program in programs)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
