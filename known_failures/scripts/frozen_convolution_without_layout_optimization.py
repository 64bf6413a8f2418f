"""With layout_optimization off, a frozen convolution still returns the channels_last output of the packed kernel.

Expected: (3200, 25, 5, 1). Seen: (3200, 1, 640, 128).
"""

import torch
import torch._inductor.config as config

conv = torch.nn.Conv2d(3, 128, 3, padding=1, bias=False).eval()
x = torch.randn(2, 3, 5, 5)
with torch.no_grad(), config.patch(freezing=True, layout_optimization=False):
    expected, seen = conv(x).stride(), torch.compile(conv)(x).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
