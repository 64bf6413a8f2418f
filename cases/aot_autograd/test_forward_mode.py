"""Forward mode: tangents that come in, are made inside or leave are eager's."""

import pytest
import torch
from torch.autograd import forward_ad

from conformance import Program, clause, needs, probes, tensors


def tangent_inside(x, y):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, y)
        return forward_ad.unpack_dual(dual * dual + y)


def tangent_of_product(x, y):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, y)
        return forward_ad.unpack_dual(dual @ y.t()).tangent


def tangent_of_written(x, y):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x * 2, y)
        written = y * 3
        written.mul_(dual)
        return forward_ad.unpack_dual(written)


def tangent_of_view(x, y):
    with forward_ad.dual_level():
        row = forward_ad.make_dual(x, y)[1].view(2, 2)
        return forward_ad.unpack_dual(row.t() * 2)


def no_tangent(x, y):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, y)
        return forward_ad.unpack_dual(dual.detach() * 2).tangent, y * 2


def square(x, y):
    return x * x + y


def multiply_matrices(x, y):
    return x @ y.t()


def write(x, y):
    x.mul_(y)
    return x + 1


def row(x, y):
    return x[1], y + 1


def first(x, y):
    return x.sum(0), y.detach()


def tangents_of(arguments, outputs):
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return [forward_ad.unpack_dual(one).tangent for one in (*arguments, *outputs)]


def dual_and_plain(device):
    x, y, tangent = (values.reshape(3, 4) for values in torch.arange(36.0, device=device).split(12))
    return [(forward_ad.make_dual(x, tangent), y)]


def two_duals(device):
    x, y, tangent = (values.reshape(3, 4) for values in torch.arange(36.0, device=device).split(12))
    return [(forward_ad.make_dual(x, tangent), forward_ad.make_dual(y, tangent - 30))]


@pytest.mark.parametrize(
    "program", [tangent_inside, tangent_of_product, tangent_of_written, tangent_of_view, no_tangent]
)
@needs("training")
@clause("aot_autograd.forward_mode.inside")
def test_tangent_inside(stack, device, program):
    """A tangent that the program attaches goes through its operators and comes out as in eager."""
    run = stack.run(program, tensors((3, 4), (3, 4), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@pytest.mark.parametrize("calls", [dual_and_plain, two_duals])
@pytest.mark.parametrize("program", [square, multiply_matrices, write, row, first])
@needs("training")
@clause("aot_autograd.forward_mode.caller")
def test_tangent_of_the_caller(stack, device, program, calls):
    """A tangent of an argument is carried to the outputs, or the call refuses it."""
    carried = Program(program, after=tangents_of, backward=False, probes=(probes.Within(forward_ad.dual_level),))
    run = stack.run(carried, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
