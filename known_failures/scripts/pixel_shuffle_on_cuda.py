"""Needs CUDA: the strides of an image in channels_last whose pixels are shuffled.

Expected: contiguous, as the operator on CUDA has it. Seen: those of channels_last, as on a CPU.
"""

import torch

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)


def shuffled(image):
    return torch.nn.functional.pixel_shuffle(image, 1)


image = torch.ones(1, 9, 2, 2, device="cuda").to(memory_format=torch.channels_last)
expected, seen = shuffled(image).stride(), torch.compile(shuffled)(image).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
