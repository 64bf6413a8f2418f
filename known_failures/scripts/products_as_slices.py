"""Products of one input by frozen weights are computed as one, and what is returned are slices of that one.

On a GPU, and on a CPU with `cpp.enable_concat_linear`. Expected: the strides (10, 1) of eager and three memories.
Seen: the strides (30, 1) and one memory.
"""

import torch
import torch._inductor.config as config


class ThreeProducts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.nn.ParameterList(torch.randn(10, 10) for _ in range(3))

    def forward(self, x):
        return [x @ weight for weight in self.weights]


with torch.no_grad(), config.patch({"freezing": True, "cpp.enable_concat_linear": True}):
    outputs = torch.compile(ThreeProducts().eval())(torch.randn(10, 10))
expected = {(10, 1)}, 3
seen = {output.stride() for output in outputs}, len({output.untyped_storage().data_ptr() for output in outputs})
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
