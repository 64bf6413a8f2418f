"""Autocast of the caller: gradients have eager's precision, also where the program turns autocast off."""

import pytest
import torch
from torch.nn import functional

from conformance import Program, call, clause, needs


def cast(x, enabled):
    return torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=enabled)


class OwnBackward(torch.autograd.Function):
    """A product that its author differentiates by products."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        with cast(x, False):
            return x @ w

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        return gradient @ w.t(), x.t() @ gradient


def as_called(x, w):
    return x @ w


def off(x, w):
    with cast(x, False):
        return x @ w


def off_for_a_layer(x, w):
    with cast(x, False):
        return functional.linear(x, w, w[0])


def off_for_batches(x, w):
    with cast(x, False):
        return torch.bmm(x[None], w[None])


def off_for_a_convolution(x, w):
    with cast(x, False):
        return functional.conv1d(x[None], w[:, :, None])


def off_for_one(x, w):
    y = x @ w
    with cast(x, False):
        z = x @ w
    return y, z


def off_in_an_own_function(x, w):
    return OwnBackward.apply(x, w)


def on_off_on(x, w):
    with cast(x, True):
        y = x @ w
        with cast(x, False):
            z = x @ w
            with cast(x, True):
                return y, z, x @ w


def sum_in_on(x, w):
    """A sum is taken in float32, a product is not."""
    with cast(x, True):
        return (x @ w).softmax(0).sum(1), (x @ w).pow(2)


def turn_on(_):
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", torch.bfloat16)


def outside(outputs):
    """The backward, which the caller starts with autocast off, as torch's documentation wants it."""
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_enabled("cuda", False)
    (last,) = outputs
    results = last if isinstance(last, tuple) else (last,)
    tangents = [torch.arange(257.0, 257 + one.numel(), device=one.device).to(one.dtype) for one in results]
    torch.autograd.backward(results, [one.reshape(y.shape) for one, y in zip(tangents, results, strict=True)])


def beyond_bfloat16(device):
    """Odd numbers above 256 are no bfloat16."""
    x = torch.arange(257.0, 289.0, 2, device=device).reshape(4, 4).requires_grad_()
    return x, torch.arange(513.0, 577.0, 4, device=device).reshape(4, 4).requires_grad_()


def on_before(device):
    return [call(*beyond_bfloat16(device), before=turn_on)]


@pytest.mark.parametrize(
    "program",
    [
        as_called,
        off,
        off_for_a_layer,
        off_for_batches,
        off_for_a_convolution,
        off_for_one,
        off_in_an_own_function,
        on_off_on,
        sum_in_on,
    ],
)
@needs("training")
@clause("aot_autograd.autocast.of_the_caller")
def test_autocast_of_the_caller(stack, device, program):
    """What is computed inside the caller's autocast has eager's precision, and so have its gradients."""
    run = stack.run(Program(program, backward=outside), on_before)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
