"""Every kind of batch norm may follow a convolution: without weights, without statistics, with extreme ones."""

from functools import partial

import pytest
import torch
from torch import nn

from conformance import Program, clause, needs

NUMBER = torch.arange(8.0)
#: What the batch norm is made with, and what its tensors hold.
NORMS = {
    "no_affine": ({"affine": False}, {"running_mean": NUMBER - 3, "running_var": NUMBER + 0.5}),
    "large_eps": ({"eps": 2.0}, {"running_var": NUMBER * 0.5 + 0.25}),
    "tiny_variance": ({"eps": 1e-5}, {"running_var": NUMBER * 2e-6 + 1e-7}),
    "variance_zero": ({"eps": 1e-3}, {"running_var": NUMBER * 0, "running_mean": NUMBER * 0.125}),
    "variance_as_eps": ({"eps": 0.01}, {"running_var": NUMBER * 0 + 0.01}),
    "large_mean": ({"eps": 0.5}, {"running_mean": NUMBER * 300 - 1000, "running_var": NUMBER + 0.5}),
    "negative_weight": ({}, {"weight": -NUMBER - 0.5, "running_var": NUMBER + 0.5, "bias": NUMBER - 4}),
    "zero_weight": ({}, {"weight": NUMBER % 2, "bias": NUMBER + 1}),
    "large_variance": ({}, {"running_var": NUMBER * 1e4 + 1e3, "weight": NUMBER + 1, "bias": NUMBER * 0.01}),
}


class ConvBatchNorm(nn.Module):
    def __init__(self, bias, options, values):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, bias=bias), nn.BatchNorm2d(8, **options)
        self.norm.load_state_dict(values, strict=False)

    def forward(self, x):
        return self.norm(self.conv(x))


class BothBiases(nn.Module):
    """With a bias of the convolution and without one."""

    def __init__(self, options, values):
        super().__init__()
        self.bias, self.no_bias = ConvBatchNorm(True, options, values), ConvBatchNorm(False, options, values)
        self.eval()

    def forward(self, x):
        return self.bias(x), self.no_bias(x)


def both_biases(device, norm):
    return BothBiases(*NORMS[norm]).to(device)


def without_statistics(device):
    return BothBiases({"track_running_stats": False, "eps": 0.5}, {"weight": NUMBER - 3.5}).to(device)


def two_images(device):
    return [(torch.randn(2, 3, 6, 7).to(device),), (torch.randn(2, 3, 6, 7).to(device) * 3 + 1,)]


every_norm = pytest.mark.parametrize("norm", NORMS)


@every_norm
@clause("freezing.conv_bn.every_norm")
def test_result_of_every_norm(stack, device, norm):
    """The result is as near to the exact one as eager's own, whatever the batch norm computes with, bias or none."""
    run = stack.run(Program(make=partial(both_biases, norm=norm), inference=True), two_images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@every_norm
@clause("freezing.conv_bn.every_norm_folded")
def test_every_norm_is_folded(stack, device, norm):
    """One convolution is left of each pair, and nothing that a batch norm is made of."""
    run = stack.run(Program(make=partial(both_biases, norm=norm), inference=True), two_images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 2
    assert run.lowered.absent("batch_norm")
    assert run.lowered.absent("sqrt")
    assert run.lowered.absent("mul")


@clause("freezing.conv_bn.batch_statistics")
def test_norm_without_statistics(stack, device):
    """A batch norm that keeps no statistics takes them from each batch, in evaluation too, so that it is no constant."""
    run = stack.run(Program(make=without_statistics, inference=True), two_images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
