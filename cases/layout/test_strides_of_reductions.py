"""Outputs of reductions, selections and matmuls have eager's strides, whatever the layout of what comes in."""

from functools import partial

import pytest
import torch

from conformance import clause


def distinct(shape, device):
    """Different values, so that no maximum is shared; the step is a prime that divides no size."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 17) % max(count, 1) - count // 2).reshape(shape).float().to(device)


def expanded(device):
    return distinct((1, 4, 5, 1), device).expand(2, 4, 5, 6)


LAYOUTS = {
    "channels_last": lambda device: distinct((2, 4, 5, 6), device).contiguous(memory_format=torch.channels_last),
    "channels_last_3d": lambda device: distinct((2, 4, 3, 5, 6), device).contiguous(
        memory_format=torch.channels_last_3d
    ),
    "transposed": lambda device: distinct((6, 5, 4, 2), device).permute(3, 2, 1, 0),
    "sliced": lambda device: distinct((2, 4, 9, 13), device)[:, :, 1:6, ::2],
    "expanded": expanded,
    "size_1": lambda device: distinct((2, 1, 5, 6), device).contiguous(memory_format=torch.channels_last),
    "empty": lambda device: distinct((0, 4, 5, 6), device).contiguous(memory_format=torch.channels_last),
}

every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def laid_out(device, layout):
    return [(LAYOUTS[layout](device),)]


def reduce(x):
    return x.sum(1), x.sum((0, 3), keepdim=True), x.argmax(1), x.argmax(1, keepdim=True), x.softmax(1), x.softmax(-1)


def multiply(x):
    return (
        x @ x.transpose(-1, -2),
        x.transpose(-1, -2) @ x,
        torch.nn.functional.scaled_dot_product_attention(x, x, x),
    )


def select(x):
    rows = torch.tensor([0, 0, 0], device=x.device)
    return (
        torch.cat([x, x + 1], 1),
        torch.cat([x, x.contiguous()]),
        x[:, rows],
        x[:, :, rows, rows],
        torch.where(x > 0, x, -1.0),
        torch.where(x > 0, x.contiguous(), x),
    )


@every_layout
@clause("layout.outputs.strides_of_reductions")
def test_reductions(stack, device, layout):
    """Sums, positions of maxima and softmax, over channels and others, kept or not, have eager's strides."""
    run = stack.run(reduce, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_layout
@clause("layout.outputs.strides_of_products")
def test_products(stack, device, layout):
    """Batched matmuls with the transposed input on either side, and attention to itself, have eager's strides."""
    run = stack.run(multiply, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_layout
@clause("layout.outputs.strides_of_selections")
def test_selections(stack, device, layout):
    """What is joined, taken by positions, or chosen, of one layout or of two, has eager's strides."""
    run = stack.run(select, partial(laid_out, layout=layout))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
