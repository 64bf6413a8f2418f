"""Captured, an LSTM on CUDA returns states with a dimension more: its decomposition stacks what is stacked already."""

import torch
import torch._dynamo

torch._dynamo.config.allow_rnn = True
torch.manual_seed(0)
lstm = torch.nn.LSTM(3, 3, batch_first=True).cuda()
x = torch.randn(2, 2, 3, device="cuda")
_, (eager, _) = lstm(x)
_, (compiled, _) = torch.compile(lstm, backend="aot_eager")(x)
assert eager.shape == compiled.shape, (eager.shape, compiled.shape)
