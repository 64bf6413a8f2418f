"""A frozen module is compiled to a package, and its parameters are to be discarded.

Expected: tensor([1., 2.]). Seen: an error about a tracing context.
"""

import torch
import torch._inductor.config as config


class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x + self.shift


x = torch.arange(2.0)
with torch.no_grad(), config.patch(freezing=True, freezing_discard_parameters=True):
    exported = torch.export.export(Shift().eval(), (x,))
    print(torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(exported))(x))
