"""Children that print as no Python come back: modules with enums and callables, observers, graphs of operators."""

import pytest
import torch

from conformance import clause, needs


class Bag(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(10, 3, mode="sum")

    def forward(self, x):
        return torch.relu(self.bag(x))


class Quantized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fake = torch.ao.quantization.FusedMovingAvgObsFakeQuantize()

    def forward(self, x):
        return torch.relu(self.fake(x))


class Activated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0, activation=torch.nn.functional.silu)

    def forward(self, x):
        return torch.relu(self.layer(x))


def checkpointed(x):
    return torch.relu(torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False))


def chosen(x):
    return torch.relu(torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))


def indices(device):
    return [(torch.arange(6, device=device).reshape(2, 3),)]


def matrix(device):
    return [(torch.arange(8.0, device=device).reshape(2, 4),)]


def leaf(device):
    return [(torch.arange(8.0, device=device).reshape(2, 4).requires_grad_(),)]


@pytest.mark.parametrize(
    ("program", "calls"),
    [(Bag, indices), (Quantized, matrix), (Activated, matrix), (checkpointed, leaf), (chosen, matrix)],
    ids=["EmbeddingBag", "FusedMovingAvgObsFakeQuantize", "TransformerEncoderLayer", "checkpoint", "cond"],
)
@needs("minifier")
@clause("minifier.after_dynamo.children")
def test_child_that_prints_as_no_python(stack, device, program, calls):
    """A launcher is written that has the child, or its operators, and minifies the operator behind it."""
    run = stack.minify(program, calls, device=device, fault="relu.compile_error")

    run.assert_minified()
    run.outcome.expect("""\
program: failed with InjectedCompileError
launcher: passed
repro: failed with InjectedCompileError
""")
