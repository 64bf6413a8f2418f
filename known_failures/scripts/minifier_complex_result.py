"""The minifier cannot run the backward of a graph whose result is complex, so that it cuts no graph down to one.

Expected: it runs. Seen: RuntimeError: grad can be implicitly
created only for real scalar outputs.
"""

import torch
from torch._dynamo.debug_utils import run_fwd_maybe_bwd


class Polar(torch.nn.Module):
    def forward(self, x):
        return (torch.polar(x, torch.zeros_like(x)),)


try:
    run_fwd_maybe_bwd(Polar(), [torch.ones(2, requires_grad=True)])
    seen = "runs"
except RuntimeError as error:
    seen = str(error)
print("expected: runs seen:", seen)
raise SystemExit("real scalar outputs" in seen)
