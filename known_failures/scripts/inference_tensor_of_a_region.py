"""What is computed in a region of inference mode comes out as a normal tensor.

Expected: True twice. Seen: True, then False.
"""

import torch


def region(x):
    with torch.inference_mode():
        return x + 1


for program in (region, torch.compile(region, backend="aot_eager")):
    print(program(torch.ones(3)).is_inference())
