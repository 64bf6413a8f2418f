"""A part of a conjugated input comes out of a package as a copy: a write to it does not reach the input.

Expected: 0j. Seen: (1-2j).
"""

import torch


class Part(torch.nn.Module):
    def forward(self, x):
        return x[1:]


x = torch.full((4,), 1 + 2j).conj()
package = torch._inductor.aoti_compile_and_package(torch.export.export(Part(), (x,)))
torch._inductor.aoti_load_package(package)(x).zero_()
seen, expected = x[1].item(), 0j
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
