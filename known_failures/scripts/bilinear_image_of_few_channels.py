"""Needs CUDA: the strides of a resampled image in channels_last that has three channels.

Expected: channels_last. Seen with `aot_eager`: contiguous, as for every image of less than 16 channels.
"""

import torch

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)


def resampled(image):
    return torch.nn.functional.interpolate(image, size=(3, 3), mode="bilinear")


image = torch.ones(1, 3, 2, 2, device="cuda").to(memory_format=torch.channels_last)
expected, seen = resampled(image).stride(), torch.compile(resampled, backend="aot_eager")(image).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
