"""A frozen module is compiled to a package, and its parameters are to be discarded.

Expected: [1.0, 2.0]. Seen: RuntimeError about a tracing context.
"""

import torch
import torch._inductor.config as config


class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x + self.shift


x, expected = torch.arange(2.0), [1.0, 2.0]
with torch.no_grad(), config.patch(freezing=True, freezing_discard_parameters=True):
    exported = torch.export.export(Shift().eval(), (x,))
    try:
        package = torch._inductor.aoti_compile_and_package(exported)
        seen = torch._inductor.aoti_load_package(package)(x).tolist()
    except RuntimeError as error:
        if "TracingContext" not in str(error):
            raise
        seen = repr(error)[:100]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
