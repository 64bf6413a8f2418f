"""A constant that is added to a frozen convolution, or multiplied with it, may only be folded along channels."""

from functools import partial

import pytest
import torch
from torch import nn

from conformance import Program, clause, needs

CHANNELS = torch.arange(1.0, 9.0)
#: One number for each channel of a result of shape (2, 8, 6, 8), or one for all.
ALONG_CHANNELS = {
    "number": 2.5,
    "no_dimension": torch.tensor(2.5),
    "one": torch.tensor([2.5]),
    "ones": torch.full((1, 1, 1, 1), 2.5),
    "channels": CHANNELS.reshape(8, 1, 1),
    "batch_and_channels": CHANNELS.reshape(1, 8, 1, 1),
}
#: Constants of the same result that vary along something else, or change dtype or rank.
OTHERWISE = {
    "integer": 3,
    "row": CHANNELS,
    "row_of_rank_2": CHANNELS.reshape(1, 8),
    "column": torch.arange(1.0, 7.0).reshape(6, 1),
    "batch": torch.tensor([1.0, 4.0]).reshape(2, 1, 1, 1),
    "plane": torch.arange(1.0, 49.0).reshape(6, 8),
    "image": torch.arange(1.0, 769.0).reshape(2, 8, 6, 8),
    "fifth_dimension": CHANNELS.reshape(1, 1, 8, 1, 1),
    "integers": CHANNELS.reshape(8, 1, 1).long(),
    "wider": CHANNELS.reshape(8, 1, 1).double(),
    "narrower": CHANNELS.reshape(8, 1, 1).bfloat16(),
}
#: Convolutions whose weight has its channels elsewhere, or more dimensions than the constant can say.
SQUARE = {
    "1d": (partial(nn.Conv1d, 8, 8, 1), CHANNELS.reshape(8, 1), (2, 8, 8)),
    "3d_row": (partial(nn.Conv3d, 8, 8, 1), CHANNELS.reshape(1, 8, 1), (1, 8, 2, 8, 3)),
    "transposed": (partial(nn.ConvTranspose2d, 8, 8, 1), CHANNELS.reshape(1, 8, 1, 1), (2, 8, 4, 3)),
    "grouped": (partial(nn.Conv2d, 8, 8, 1, groups=2), CHANNELS.reshape(8, 1, 1), (2, 8, 4, 3)),
}


class FourOperations(nn.Module):
    """Each operation after a convolution of its own, so that each may be folded."""

    def __init__(self, make_conv, constant):
        super().__init__()
        self.add, self.sub, self.mul, self.div = (make_conv() for _ in range(4))
        self.constant = nn.Buffer(constant.clone()) if isinstance(constant, torch.Tensor) else constant

    def forward(self, x):
        constant = self.constant
        return self.add(x) + constant, self.sub(x) - constant, self.mul(x) * constant, self.div(x) / constant


class ConstantFirst(FourOperations):
    """The constant on the left, and a factor on the right: what is folded as if it were not is wrong."""

    def forward(self, x):
        constant = self.constant
        return (
            torch.add(self.add(x), constant, alpha=3),
            constant - self.sub(x),
            torch.sub(self.mul(x), constant, alpha=2),
            torch.div(self.div(x), constant, rounding_mode="floor"),
        )


class BothBiases(nn.Module):
    def __init__(self, make_conv, constant):
        super().__init__()
        self.bias, self.no_bias = (FourOperations(partial(make_conv, bias=bias), constant) for bias in (True, False))

    def forward(self, x):
        return self.bias(x), self.no_bias(x)


def built(device, make_conv, constant, module_class=FourOperations):
    return module_class(make_conv, constant).eval().to(device)


def image(device, shape=(2, 3, 6, 8)):
    return [(torch.randn(shape).to(device),)]


def frozen(stack, make_conv, constant, calls=image, **options):
    program = Program(make=partial(built, make_conv=make_conv, constant=constant, **options), inference=True)
    return stack.run(program, calls)


@pytest.mark.parametrize("constant", ALONG_CHANNELS)
@clause("freezing.binary.along_channels")
def test_constant_along_channels(stack, device, constant):
    """A number for each channel, or one for all, gives eager's result under each operation."""
    run = frozen(stack, partial(nn.Conv2d, 3, 8, 1), ALONG_CHANNELS[constant], module_class=BothBiases)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@pytest.mark.parametrize("constant", ALONG_CHANNELS)
@clause("freezing.binary.folded")
def test_constant_along_channels_is_folded(stack, device, constant):
    """Four convolutions are left, and none of the operations after them."""
    run = frozen(stack, partial(nn.Conv2d, 3, 8, 1), ALONG_CHANNELS[constant])

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 4
    assert len([op for op in run.lowered[0].ops if "stride_order" not in op]) == 4


@pytest.mark.parametrize("constant", OTHERWISE)
@clause("freezing.binary.otherwise")
def test_constant_along_anything_else(stack, device, constant):
    """A constant that varies within a channel, or widens the result, keeps its place behind the convolution."""
    run = frozen(stack, partial(nn.Conv2d, 3, 8, 1), OTHERWISE[constant])

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@pytest.mark.parametrize("kind", SQUARE)
@clause("freezing.binary.otherwise")
def test_constant_after_square_convolution(stack, device, kind):
    """Where all sizes are equal, output channels are still told from input channels and from pixels."""
    make_conv, constant, shape = SQUARE[kind]
    run = frozen(stack, make_conv, constant, partial(image, shape=shape))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@clause("freezing.binary.otherwise")
def test_constant_with_a_factor_or_first(stack, device):
    """A constant with a factor, on the left, or in a rounded division is not folded as the plain one is."""
    run = frozen(stack, partial(nn.Conv2d, 3, 8, 1), CHANNELS.reshape(8, 1, 1), module_class=ConstantFirst)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
