"""A parameter that the program makes comes out of a package as a tensor.

Expected: Parameter. Seen: Tensor.
"""

import torch


class Makes(torch.nn.Module):
    def forward(self, x):
        return torch.nn.Parameter(x * 2, requires_grad=False)


x = torch.zeros(3)
package = torch._inductor.aoti_compile_and_package(torch.export.export(Makes(), (x,)))
seen, expected = type(torch._inductor.aoti_load_package(package)(x)).__name__, "Parameter"
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
