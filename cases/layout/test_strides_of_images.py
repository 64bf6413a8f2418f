"""Outputs of convolutions, pooling and norms have eager's strides, whatever the layout of the image."""

from functools import partial

import pytest
import torch
from torch.nn import functional

from conformance import clause


def image(shape, device):
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 5) % 7 - 3).reshape(shape).float().to(device)


LAYOUTS = {
    "channels_last": lambda device: image((2, 4, 5, 6), device).contiguous(memory_format=torch.channels_last),
    "transposed": lambda device: image((6, 5, 4, 2), device).permute(3, 2, 1, 0),
    "sliced": lambda device: image((2, 4, 9, 13), device)[:, :, 1:6, ::2],
    "expanded": lambda device: image((1, 4, 5, 1), device).expand(2, 4, 5, 6),
    "size_1": lambda device: image((2, 1, 5, 6), device).contiguous(memory_format=torch.channels_last),
    "empty": lambda device: image((0, 4, 5, 6), device).contiguous(memory_format=torch.channels_last),
}
LAYOUTS_3D = {
    "channels_last_3d": lambda device: image((2, 4, 3, 5, 6), device).contiguous(memory_format=torch.channels_last_3d),
    "transposed": lambda device: image((6, 5, 3, 4, 2), device).permute(4, 3, 2, 1, 0),
}

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_layout_3d = pytest.mark.parametrize("layout", LAYOUTS_3D)


def laid_out(device, layout):
    return [(LAYOUTS[layout](device),)]


def with_weight(device, layout):
    x = LAYOUTS[layout](device)
    return [(x, image((3, x.shape[1], 3, 3), device))]


def laid_out_3d(device, layout):
    x = LAYOUTS_3D[layout](device)
    return [(x, image((3, x.shape[1], 3, 3, 3), device))]


def convolve(x, weight):
    return functional.conv2d(x, weight, padding=1)


def convolve_and_pool_3d(x, weight):
    return functional.conv3d(x, weight, padding=1), functional.max_pool3d(x, 3, stride=2, padding=1)


def pool(x):
    return functional.max_pool2d(x, 3, stride=2, padding=1), functional.avg_pool2d(x, 2)


def pool_and_undo_it(x):
    pooled, places = functional.max_pool2d(x, 2, return_indices=True)
    return functional.max_unpool2d(pooled, places, 2, output_size=x.shape)


def normalize(x):
    channels = torch.arange(1.0, x.shape[1] + 1, device=x.device)
    return functional.batch_norm(x, channels, channels, eps=0.5), functional.group_norm(x, 1)


@every_layout
@clause("layout.outputs.strides_of_images")
def test_convolution(stack, device, layout):
    """The result of a convolution has the strides that eager derives from image and weight."""
    run = stack.run(convolve, partial(with_weight, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_layout_3d
@clause("layout.outputs.strides_of_images")
def test_convolution_and_pooling_in_3d(stack, device, layout):
    """Convolution and pooling over volumes have eager's strides."""
    run = stack.run(convolve_and_pool_3d, partial(laid_out_3d, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_layout
@clause("layout.outputs.strides_of_images")
def test_pooling(stack, device, layout):
    """Maximum and average pooling have eager's strides."""
    run = stack.run(pool, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_layout
@clause("layout.outputs.strides_of_images")
def test_pooling_undone(stack, device, layout):
    """An image whose largest elements are put back where they were has eager's strides."""
    run = stack.run(pool_and_undo_it, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_layout
@clause("layout.outputs.strides_of_images")
def test_norms(stack, device, layout):
    """Batch norm by given statistics and group norm have eager's strides."""
    run = stack.run(normalize, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
