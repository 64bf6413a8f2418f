"""Whether a parameter requires grad is not guarded: a call after requires_grad_(False) is served by the same graph.

Expected: 2 graphs. Seen: 1.
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.weight


graphs = []


def counting(graph, inputs):
    graphs.append(graph)
    return graph


net = Net()
compiled = torch.compile(net, backend=counting)
for requires_grad in (True, False):
    net.requires_grad_(requires_grad)
    compiled(torch.ones(1, requires_grad=True))
expected, seen = 2, len(graphs)
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
