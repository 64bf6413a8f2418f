"""A tensor transposed in place and returned twice comes out of a package as two tensors.

Expected: (1, 3, 2). Seen: (3, 2).
"""

import torch


class Twice(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        y.t_()
        return y, y


x = torch.zeros(2, 3)
package = torch._inductor.aoti_compile_and_package(torch.export.export(Twice(), (x,)))
first, second = torch._inductor.aoti_load_package(package)(x)
first.unsqueeze_(0)
seen, expected = tuple(second.shape), (1, 3, 2)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
