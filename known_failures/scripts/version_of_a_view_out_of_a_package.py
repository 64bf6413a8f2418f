"""A view that a package returns has a version of its own: autograd cannot see that its input was written through it.

Expected: 1. Seen: 0.
"""

import torch


class Bits(torch.nn.Module):
    def forward(self, x):
        return x.view(torch.int32)


x = torch.zeros(4)
package = torch._inductor.aoti_compile_and_package(torch.export.export(Bits(), (x,)))
torch._inductor.aoti_load_package(package)(x).add_(1)
seen, expected = x._version, 1
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
