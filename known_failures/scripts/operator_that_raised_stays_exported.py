"""An operator that raises while a program is exported stays in the graph, though the program caught what it raised.

Expected: [2.0, 2.0, 2.0]. Seen: RuntimeError.
"""

import torch


class Catches(torch.nn.Module):
    def forward(self, x):
        try:
            return x + torch.ones(4)
        except RuntimeError:
            return x * 2


x = torch.ones(3)
expected = Catches()(x).tolist()
try:
    seen = torch.export.export(Catches(), (x,), strict=False).module()(x).tolist()
except RuntimeError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
