"""A frozen package takes a buffer that the program counts in for a constant: every call counts from the start.

Expected: [1.0, 2.0, 3.0]. Seen: [1.0, 1.0, 1.0].
"""

import torch
import torch._inductor.config as config


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen.add_(1)
        return self.seen + x


x, expected = torch.zeros(1), [1.0, 2.0, 3.0]
with torch.no_grad(), config.patch(freezing=True):
    package = torch._inductor.aoti_compile_and_package(torch.export.export(Counts(), (x,)))
    loaded = torch._inductor.aoti_load_package(package)
    seen = [loaded(x).item() for _ in expected]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
