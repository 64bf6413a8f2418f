"""Captured, an LSTM on CUDA returns states with a dimension more: its decomposition stacks what is stacked already.

Expected: (1, 2, 3). Seen: a shape with one dimension more.
"""

import torch
import torch._dynamo

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)
torch._dynamo.config.allow_rnn = True
torch.manual_seed(0)
lstm = torch.nn.LSTM(3, 3, batch_first=True).cuda()
x = torch.randn(2, 2, 3, device="cuda")
expected, seen = (tuple(program(x)[1][0].shape) for program in (lstm, torch.compile(lstm, backend="aot_eager")))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
