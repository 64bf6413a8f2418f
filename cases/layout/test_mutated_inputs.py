"""Inputs that a program mutates keep their own strides, whatever was computed to fill them."""

from functools import partial

import pytest
import torch
from torch.nn import functional

from conformance import clause, needs


def image(device, channels=4):
    return ((torch.arange(2.0 * channels * 5 * 6, device=device) * 5) % 7 - 3).reshape(2, channels, 5, 6)


LAYOUTS = {
    "channels_last": lambda device: image(device).contiguous(memory_format=torch.channels_last),
    "transposed": lambda device: image(device).permute(1, 0, 3, 2),
    "sliced": lambda device: image(device, 8)[:, ::2, 1:, :-1],
    "size_1": lambda device: image(device, 1).contiguous(memory_format=torch.channels_last),
}

every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def laid_out(device, layout):
    return [(LAYOUTS[layout](device),)]


def with_weight(device, layout):
    x = LAYOUTS[layout](device)
    channels = x.shape[1]
    return [(x, image(device, 9)[:1, :, :3, :3].expand(channels, -1, -1, -1)[:, :channels].contiguous())]


def double_in_place(x):
    x.mul_(2)
    return x + 1


def convolve_into(x, weight):
    return x.copy_(functional.conv2d(x, weight, padding=1))


def channels_last(device):
    return laid_out(device, "channels_last")


@needs("input_mutation")
@every_layout
@clause("layout.inputs.own_strides")
def test_pointwise_mutation(stack, device, layout):
    """An input that is doubled in place keeps its strides, and what is computed from it has eager's."""
    run = stack.run(double_in_place, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.mul
aten.add
aten.copy_
""")


@needs("input_mutation")
@every_layout
@clause("layout.inputs.own_strides")
def test_mutation_by_a_convolution(stack, device, layout):
    """An input that receives a convolution of itself keeps its strides, not those of the convolution."""
    run = stack.run(convolve_into, partial(with_weight, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.convolution
aten.copy
aten.copy_
""")


@needs("input_mutation")
@clause("layout.inputs.own_strides")
def test_graph_of_a_mutated_channels_last_input(stack, device):
    """The graph writes back a tensor of the input's own strides."""
    run = stack.run(double_in_place, channels_last)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 4, 5, 6](120, 1, 24, 4)
mul: f32[2, 4, 5, 6](120, 1, 24, 4) = aten.mul(in0, 2)
add: f32[2, 4, 5, 6](120, 1, 24, 4) = aten.add(mul, 1)
copy_(in0, mul)
return (add,)
""")
