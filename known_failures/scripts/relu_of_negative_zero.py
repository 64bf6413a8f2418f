"""Needs CUDA: inductor's relu of -0.0 is -0.0, since its kernel takes the second of two equal zeros as their maximum.

Expected: [0.0, 0.0]. Seen: [-0.0, 0.0].
"""

import torch

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)
x = torch.tensor([-0.0, 0.0], device="cuda")
expected, seen = str(torch.relu(x).tolist()), str(torch.compile(torch.relu)(x).tolist())
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
