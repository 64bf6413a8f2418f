"""A small network in training: batch norm, dropout that drops, a mutated buffer, gradients of all parameters."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU())
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.seen += x.shape[0]
        return torch.nn.functional.dropout(self.layers(x), 0.5).square().mean()


def make_program(device):
    return Net().to(device)


def calls(device):
    x = torch.randn(8, 4, device=device)
    return [(x,), (x.flip(0),)]
