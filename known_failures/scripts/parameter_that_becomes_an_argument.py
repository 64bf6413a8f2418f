"""What was compiled for a parameter beside an argument is used where the parameter is the argument.

Expected: 6, the parameter as it was updated. Seen: 3, the parameter before its update.
"""

import torch


class Updated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.nn.Parameter(torch.tensor([3.0]))

    def forward(self, x, w):
        with torch.no_grad():
            self.state.mul_(2)
        return x * w


module = Updated()
compiled = torch.compile(module, backend="aot_eager")
compiled(torch.tensor([1.0]), torch.nn.Parameter(torch.tensor([5.0])))
module.state = torch.nn.Parameter(torch.tensor([3.0]))
expected, seen = 6.0, compiled(torch.tensor([1.0]), module.state).item()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
