"""Needs CUDA: inductor's negation of 0.0 is 0.0, since Triton subtracts from zero.

Expected: [-0.0, 0.0]. Seen: [0.0, 0.0].
"""

import torch

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)
x = torch.tensor([0.0, -0.0], device="cuda")
expected, seen = str(torch.neg(x).tolist()), str(torch.compile(torch.neg)(x).tolist())
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
