"""Every kind of convolution may have a batch norm after it: dimensions, transposed, grouped, dilated, padded."""

from functools import partial

import pytest
import torch
from torch import nn

from conformance import Program, clause, needs

#: How the convolution is made, the batch norm for it, and the shape of what goes in.
KINDS = {
    "1d": (partial(nn.Conv1d, 4, 8, 3), nn.BatchNorm1d, (2, 4, 9)),
    "2d": (partial(nn.Conv2d, 4, 8, 3), nn.BatchNorm2d, (2, 4, 7, 6)),
    "3d": (partial(nn.Conv3d, 4, 8, 2), nn.BatchNorm3d, (2, 4, 4, 5, 3)),
    "grouped": (partial(nn.Conv2d, 4, 8, 3, groups=2), nn.BatchNorm2d, (2, 4, 7, 6)),
    "depthwise": (partial(nn.Conv2d, 4, 8, 3, groups=4), nn.BatchNorm2d, (2, 4, 7, 6)),
    "dilated": (partial(nn.Conv2d, 4, 8, 3, dilation=2), nn.BatchNorm2d, (2, 4, 7, 6)),
    "padded": (partial(nn.Conv2d, 4, 8, 3, padding=(1, 2), stride=2), nn.BatchNorm2d, (2, 4, 7, 6)),
    "same": (partial(nn.Conv2d, 4, 8, 3, padding="same"), nn.BatchNorm2d, (2, 4, 7, 6)),
    "transposed_1d": (partial(nn.ConvTranspose1d, 4, 8, 3), nn.BatchNorm1d, (2, 4, 9)),
    "transposed_2d": (partial(nn.ConvTranspose2d, 4, 8, 3, stride=2), nn.BatchNorm2d, (2, 4, 7, 6)),
    "transposed_square": (partial(nn.ConvTranspose2d, 8, 8, 3), nn.BatchNorm2d, (2, 8, 7, 6)),
    "transposed_grouped": (partial(nn.ConvTranspose2d, 4, 8, 3, groups=2), nn.BatchNorm2d, (2, 4, 7, 6)),
}
NOT_TRANSPOSED = [kind for kind in KINDS if not kind.startswith("transposed")]
ROWS = [(kind, dtype) for dtype in (torch.float32, torch.bfloat16) for kind in KINDS]


class ConvBatchNorm(nn.Module):
    """Statistics that show mistakes: an eps of the size of the variances, large means, weights of either sign."""

    def __init__(self, kind, bias):
        super().__init__()
        make_conv, make_norm, _ = KINDS[kind]
        self.conv, self.norm = make_conv(bias=bias), make_norm(8, eps=0.001)
        number = torch.arange(8.0)
        with torch.no_grad():
            self.norm.running_mean.copy_((number % 5 - 2) * 3)
            self.norm.running_var.copy_((number % 4 + 0.25) * 0.001)
            self.norm.weight.copy_(number % 3 - 1.25)
            self.norm.bias.copy_(number * 5 - 17)

    def forward(self, x):
        return self.norm(self.conv(x))


class BothBiases(nn.Module):
    """With a bias of the convolution and without one."""

    def __init__(self, kind, dtype):
        super().__init__()
        self.bias, self.no_bias = ConvBatchNorm(kind, True), ConvBatchNorm(kind, False)
        self.to(dtype).eval()

    def forward(self, x):
        return self.bias(x), self.no_bias(x)


def both_biases(device, kind, dtype):
    return BothBiases(kind, dtype).to(device)


def image(device, kind, dtype):
    return [(torch.randn(KINDS[kind][2]).to(device, dtype),)]


def frozen(stack, kind, dtype):
    make = partial(both_biases, kind=kind, dtype=dtype)
    return stack.run(Program(make=make, inference=True), partial(image, kind=kind, dtype=dtype))


@pytest.mark.parametrize(("kind", "dtype"), ROWS, ids=str)
@clause("freezing.conv_bn.every_convolution")
def test_result_of_every_kind(stack, device, kind, dtype):
    """The result is as near to the exact one as eager's own, whatever the convolution is, with a bias and without."""
    run = frozen(stack, kind, dtype)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@pytest.mark.parametrize("kind", NOT_TRANSPOSED)
@clause("freezing.conv_bn.every_convolution_folded")
def test_every_kind_is_folded(stack, device, kind):
    """One convolution is left of each pair, and nothing that a batch norm is made of."""
    run = frozen(stack, kind, torch.float32)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 2
    assert run.lowered.absent("batch_norm")
    assert run.lowered.absent("sqrt")
    assert run.lowered.absent("mul")
