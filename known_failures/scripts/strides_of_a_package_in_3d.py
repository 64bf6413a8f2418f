"""A package's convolution of a volume in channels_last_3d is contiguous; torch.compile keeps eager's strides.

Expected: (216, 1, 72, 12, 2). Seen: (216, 108, 36, 6, 1).
"""

import torch
from torch.nn import functional


class Convolve(torch.nn.Module):
    def forward(self, x, weight):
        return functional.conv3d(x, weight, padding=1)


inputs = torch.randn(2, 4, 3, 6, 6).contiguous(memory_format=torch.channels_last_3d), torch.randn(2, 4, 3, 3, 3)
with torch.no_grad():
    expected = Convolve()(*inputs).stride()
    package = torch._inductor.aoti_compile_and_package(torch.export.export(Convolve(), inputs))
    seen = torch._inductor.aoti_load_package(package)(*inputs).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
