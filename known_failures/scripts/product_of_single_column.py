"""A product of matrices that meet in a dimension of size one is a pointwise product, and keeps a negative zero.

Expected: 0.0, as a sum that begins with zero has it. Seen: -0.0.
"""

import torch

x, y = torch.tensor([[[-0.0], [1.0]]]), torch.tensor([[[1.0, 2.0]]])
expected, seen = torch.bmm(x, y), torch.compile(torch.bmm, backend="inductor")(x, y)
print("expected:", expected.tolist(), "seen:", seen.tolist())
raise SystemExit(not torch.equal(torch.signbit(seen), torch.signbit(expected)))
