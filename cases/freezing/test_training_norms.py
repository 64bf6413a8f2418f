"""A batch norm that trains is not folded: it takes each batch's statistics, and keeps count of them."""

from functools import partial

import pytest
import torch
from torch import nn

from conformance import Program, clause, needs

#: What the batch norm is made with; without a momentum the statistics are an average over all batches.
MOMENTA = {"default": {}, "large": {"momentum": 0.75}, "cumulative": {"momentum": None}}

every_momentum = pytest.mark.parametrize("momentum", MOMENTA)


class TrainingNorm(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, eps=0.1, **options)
        with torch.no_grad():
            self.norm.running_mean.fill_(7)
            self.norm.weight.copy_(torch.arange(4.0) - 1.5)

    def forward(self, x):
        return self.norm(self.conv(x))


def training_norm(device, momentum):
    return TrainingNorm(MOMENTA[momentum]).to(device)


def evaluated(device, momentum):
    return training_norm(device, momentum).eval()


def three_batches(device):
    return [(torch.randn(2, 3, 5, 5).to(device) * number,) for number in range(1, 4)]


@needs("module_state")
@pytest.mark.parametrize("momentum", ["default", "large"])
@clause("freezing.conv_bn.training")
def test_statistics_keep_updating(stack, device, momentum):
    """In training mode three batches give eager's results and leave eager's statistics and count."""
    run = stack.run(Program(make=partial(training_norm, momentum=momentum), inference=True), three_batches)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.convolution
aten.add
aten._native_batch_norm_legit_functional
aten.copy_
aten.copy_
aten.copy_
""")


@needs("graph_breaks", "module_state")
@clause("freezing.conv_bn.training")
def test_cumulative_average_keeps_updating(stack, device):
    """Without a momentum the count of batches is read in Python, and weighs each batch as in eager."""
    run = stack.run(Program(make=partial(training_norm, momentum="cumulative"), inference=True), three_batches)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.graph_breaks.expect("""Unsupported Tensor.item() call with capture_scalar_outputs=False""")


@needs("freezing", "lowered_graph", "module_state")
@clause("freezing.conv_bn.training")
def test_training_norm_is_not_folded(stack, device):
    """The frozen graph computes the variance of each batch and writes mean, variance and count back."""
    run = stack.run(Program(make=partial(training_norm, momentum="large"), inference=True), three_batches)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("var_mean") == 1
    assert run.lowered.count("copy_") == 3
    run.forward.operators.expect("""\
aten.convolution
aten.add
aten._native_batch_norm_legit_functional
aten.copy_
aten.copy_
aten.copy_
""")


@every_momentum
@clause("freezing.conv_bn.momentum")
def test_evaluated_norm_keeps_statistics(stack, device, momentum):
    """In evaluation mode the statistics stay, whatever the momentum, and give eager's results."""
    run = stack.run(Program(make=partial(evaluated, momentum=momentum), inference=True), three_batches)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.convolution
aten._native_batch_norm_legit_no_training
""")
