"""Whether an infinity is in a tensor with a NaN is looked up in sorted elements, between which NaN has no place.

Expected: True, the infinity is there. Seen: False.
"""

import torch

elements = torch.tensor([float("nan"), float("inf"), 1.0, float("-inf"), -0.0])
tested = torch.tensor([float("inf"), 0.0, 0.5, 1.0, -1.5, float("nan"), 2.5, float("-inf"), 1e10]).repeat(3)

expected = torch.isin(elements, tested)
seen = torch.compile(torch.isin, backend="inductor")(elements, tested)
print("expected:", expected.tolist(), "seen:", seen.tolist())
raise SystemExit(not torch.equal(seen, expected))
