"""A program that reads `.data` of a tensor cannot be exported: the reading is not traced.

Expected: [2.0]. Seen: RuntimeError.
"""

import torch


class ReadsData(torch.nn.Module):
    def forward(self, x):
        return x.data * 2


x, expected = torch.ones(1), [2.0]
try:
    seen = torch.export.export(ReadsData(), (x,)).module()(x).tolist()
except RuntimeError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
