"""Gradients arrive with the strides that eager gives them: asked for by `autograd.grad`, which accumulates nothing."""

from functools import partial

import pytest
import torch
from torch.nn import functional

from conformance import Program, clause, needs


def numbers(shape, device):
    return ((torch.arange(torch.Size(shape).numel(), device=device) * 5) % 7 - 3).reshape(shape).float()


def gradients(arguments, outputs):
    """The gradients as they come: what `.grad` holds has been laid out again."""
    return torch.autograd.grad(outputs.square().sum(), arguments)


IMAGES = {
    "contiguous": lambda device: numbers((2, 4, 5, 6), device),
    "channels_last": lambda device: numbers((2, 4, 5, 6), device).contiguous(memory_format=torch.channels_last),
    "transposed": lambda device: numbers((6, 5, 4, 2), device).permute(3, 2, 1, 0),
}
MATRICES = {
    "contiguous": lambda device: numbers((3, 4, 4), device),
    "transposed": lambda device: numbers((3, 4, 4), device).mT,
    "batch_last": lambda device: numbers((4, 4, 3), device).permute(2, 0, 1),
    "columns_first": lambda device: numbers((4, 3, 4), device).permute(1, 2, 0),
}


def image_and_weight(device, image, weight):
    kernel = numbers((3, 4, 3, 3), device).contiguous(memory_format=weight)
    return [(IMAGES[image](device).requires_grad_(), kernel.requires_grad_())]


def two_matrices(device, left, right):
    return [(MATRICES[left](device).requires_grad_(), MATRICES[right](device).requires_grad_())]


def convolve(x, weight):
    return functional.conv2d(x, weight, stride=2, padding=1)


def product(a, b):
    return torch.bmm(a, b)


CONVOLVE = Program(convolve, backward=False, after=gradients)
PRODUCT = Program(product, backward=False, after=gradients)
FORCED = Program(convolve, backward=False, after=gradients, config={"inductor.force_layout_optimization": True})


@needs("training")
@pytest.mark.parametrize("weight", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("image", IMAGES)
@clause("layout.gradients.eager_strides")
def test_convolution(stack, device, image, weight):
    """The gradients of image and weight have eager's strides."""
    run = stack.run(CONVOLVE, partial(image_and_weight, image=image, weight=weight))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect("""\
aten.convolution
aten.convolution_backward
""")


@needs("training", "layout_optimization")
@pytest.mark.parametrize("image", IMAGES)
@clause("layout.gradients.eager_strides")
def test_convolution_with_forced_layout(stack, device, image):
    """Layout optimization that is forced inside changes no gradient's strides."""
    calls = partial(image_and_weight, image=image, weight=torch.contiguous_format)
    run = stack.run(FORCED, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect("""\
aten.convolution
aten.convolution_backward
""")


@needs("training")
@pytest.mark.parametrize("right", MATRICES)
@pytest.mark.parametrize("left", MATRICES)
@clause("layout.gradients.of_products")
def test_batched_product(stack, device, left, right):
    """The gradients of both factors of a batched product have eager's strides."""
    run = stack.run(PRODUCT, partial(two_matrices, left=left, right=right))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect("""\
aten.bmm
aten.transpose
aten.bmm
aten.transpose
aten.bmm
""")
