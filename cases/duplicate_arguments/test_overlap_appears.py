"""Separate arguments first and overlapping ones later, or the other way round, where one of them is mutated."""

import pytest
import torch

from conformance import clause, needs

SHAPES = pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])


def double_the_first(x, y):
    x.mul_(2)
    return x + y


def row_of_the_second(x, y):
    x.mul_(10)
    return y[1]


def second_in_a_row(x, y):
    x.mul_(10)
    return y.view(-1)


def separate(device):
    return torch.ones(4, device=device), torch.ones(4, device=device) * 2


def overlapping(device, requires_grad=False):
    # A clone, so that a leaf is not written to.
    buffer = torch.arange(8.0, device=device, requires_grad=requires_grad).clone()
    return buffer[:4], buffer[2:6]


def separate_then_overlapping(device):
    return [separate(device), overlapping(device)]


def overlapping_then_separate(device):
    return [overlapping(device), separate(device)]


def separate_same_overlapping(device):
    same, _ = separate(device)
    return [separate(device), (same, same), overlapping(device)]


def with_gradients(device):
    x, y = (tensor.requires_grad_().clone() for tensor in separate(device))
    return [(x, y), overlapping(device, requires_grad=True)]


def rows_of_a_buffer(device):
    buffer = torch.arange(12.0, device=device).reshape(4, 3).clone()
    return [(buffer, buffer[1:])]


def rows_of_views(device):
    buffer = torch.arange(15.0, device=device).reshape(5, 3).clone()
    return [(buffer[:3], buffer[1:4])]


ROWS = pytest.mark.parametrize("calls", [rows_of_a_buffer, rows_of_views], ids=["buffer_and_view", "two_views"])


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.appears")
def test_separate_then_overlapping(stack, device, dynamic):
    """Separate tensors and then overlapping slices compile twice, for that reason."""
    run = stack.run(double_the_first, separate_then_overlapping, dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""no storage overlap of x, y""")


@needs("recompiles", "input_mutation", "training")
@clause("duplicate_arguments.overlap.appears")
def test_separate_then_overlapping_with_gradients(stack, device):
    """Separate tensors with history and then overlapping ones compile twice, and gradients add up over the overlap."""
    run = stack.run(double_the_first, with_gradients)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""no storage overlap of x, y""")


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.appears")
def test_overlapping_then_separate(stack, device, dynamic):
    """Overlapping slices and then separate tensors are compiled apart."""
    run = stack.run(double_the_first, overlapping_then_separate, dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.dynamo.operators.expect("""\
mul_
add
mul_
add
""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.overlap.appears")
def test_separate_then_the_same_then_overlapping(stack, device):
    """Separate tensors, one tensor twice and overlapping slices are compiled apart, each for its reason."""
    run = stack.run(double_the_first, separate_same_overlapping, dynamic=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=3, recompiles=2)
    run.recompiles.expect("""\
x is not y
no storage overlap of x, y; x is y
""")


@ROWS
@needs("input_mutation")
@clause("duplicate_arguments.overlap.view_of_argument")
def test_row_of_the_overlapping_argument(stack, device, calls):
    """A row of the second argument, returned after the first was mutated, is that of the second argument."""
    run = stack.run(row_of_the_second, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""mul_""")


@ROWS
@needs("input_mutation")
@clause("duplicate_arguments.overlap.view_of_argument")
def test_overlapping_argument_in_a_row(stack, device, calls):
    """The second argument in one dimension, returned after the first was mutated, has the second argument's size."""
    run = stack.run(second_in_a_row, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
mul_
view
""")
