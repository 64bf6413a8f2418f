"""Values that eager refuses, though dtypes and shapes are right."""

import pytest
import torch
from torch.nn import functional

from conformance import assert_refused_as_eager, by_scope, clause, in_scopes, needs, on_devices, operators

FULL = in_scopes("full", "nightly")
#: The values that no code on the host looks at.
BY_THE_KERNEL = on_devices(
    "cpu", reason="a GPU refuses this by an assertion of eager's kernel, after which the process cannot use the GPU"
)


def scores(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([0, 3], device=device))]


def many_indices(device):
    where = torch.zeros(100_000, dtype=torch.int64, device=device)
    where[70_000] = 1_000
    return [(torch.arange(10.0, device=device), where)]


def one_class_too_many(x, classes):
    return functional.cross_entropy(x, classes)


def likelihood_of_a_class_too_many(x, classes):
    return functional.nll_loss(x, classes)


def one_hot_of_a_class_too_many(x, classes):
    return functional.one_hot(classes, 3) + 1


def negative_probability(x, classes):
    return torch.bernoulli(x - 1) + 1


def draw_of_negative_probabilities(x, classes):
    return torch.multinomial(x - 1, 2) + 1


def lower_bound_too_small(x, classes):
    return torch.clamp(x, min=-1e39) + 1


def bounds_of_a_byte(x, classes):
    return torch.clamp(classes.to(torch.uint8), -1, 300)


def row_too_far(x, classes):
    return x.index_select(0, classes) * 2


def element_too_far(x, classes):
    return torch.take(x, classes + 5) * 2


def column_too_far(x, classes):
    return x[:, classes] + 1


def embedding_too_far(x, classes):
    return functional.embedding(classes, x) + 1


def gathered_too_far(x, where):
    return x.gather(0, where) - 1


def scattered_too_far(x, where):
    return torch.zeros_like(where, dtype=x.dtype).scatter(0, where + 100_000, 1.0) + 1


def image_without_columns(x, classes):
    # What a stack reads beside the image is of its memory still.
    return functional.interpolate(x[None, None, :, 2:2], size=(2, 2), mode="bilinear") + 1


def target_beyond_one(x, classes):
    return functional.binary_cross_entropy(torch.full_like(x, 0.5), x)


def probability_beyond_one(x, classes):
    return functional.binary_cross_entropy(x, torch.full_like(x, 0.5))


def celu_without_alpha(x, classes):
    # Where this is refused while it is traced, something has been compiled before.
    y = x + 1
    total = y.sum().item()
    return functional.celu(y, 0.0) + total


def smooth_loss_of_negative_beta(x, classes):
    return functional.smooth_l1_loss(x, x + 1, beta=-1.0)


def softmax_of_integers(x, classes):
    return torch.softmax(x.int(), 0) + 1


def gelu_of_integers(x, classes):
    return functional.gelu(x.int()) + 1


def linear_between_integers(x, classes):
    return functional.interpolate(x[None].int(), size=5, mode="linear") + 1


def bilinear_between_integers(x, classes):
    return functional.interpolate(x[None, None].int(), size=(4, 5), mode="bilinear") + 1


def bicubic_between_integers(x, classes):
    return functional.interpolate(x[None, None].int(), size=(4, 5), mode="bicubic") + 1


def rows(programs):
    return [pytest.param(program, id=program.__name__, marks=marks) for program, marks in programs]


OPTIONS_AND_DTYPES = [
    (smooth_loss_of_negative_beta, []),
    (softmax_of_integers, []),
    (bilinear_between_integers, []),
    (gelu_of_integers, [FULL]),
    (linear_between_integers, [FULL]),
    (bicubic_between_integers, [FULL]),
]
REFUSED = [
    (bounds_of_a_byte, []),
    (image_without_columns, []),
    (one_hot_of_a_class_too_many, [BY_THE_KERNEL]),
    (negative_probability, [BY_THE_KERNEL]),
    (row_too_far, [BY_THE_KERNEL]),
    (target_beyond_one, [BY_THE_KERNEL]),
    (lower_bound_too_small, [FULL]),
    (draw_of_negative_probabilities, [BY_THE_KERNEL, FULL]),
    (probability_beyond_one, [BY_THE_KERNEL, FULL]),
    (one_class_too_many, [BY_THE_KERNEL, FULL]),
    (likelihood_of_a_class_too_many, [BY_THE_KERNEL, FULL]),
    (element_too_far, [BY_THE_KERNEL, FULL]),
    (column_too_far, [BY_THE_KERNEL, FULL]),
    (embedding_too_far, [BY_THE_KERNEL, FULL]),
]


@pytest.mark.parametrize("program", rows(REFUSED))
@clause("operators.errors.values")
def test_refused(stack, device, program):
    """The stack raises what eager raises."""
    run = stack.run(program, scores)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)


@pytest.mark.parametrize("program", rows(OPTIONS_AND_DTYPES))
@clause("operators.errors.refused")
def test_refused_options_and_dtypes(stack, device, program):
    """Options out of range, and integers where only floats are computed with, are refused as in eager."""
    run = stack.run(program, scores)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)


@needs("graph_breaks")
@clause("operators.errors.refused")
def test_refused_after_a_break(stack, device):
    """What is refused in the second graph of a program is refused, whether while it is traced or when it runs."""
    run = stack.run(celu_without_alpha, scores)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)


@pytest.mark.parametrize("program", [gathered_too_far, scattered_too_far], ids=["gather", "scatter"])
@FULL
@BY_THE_KERNEL
@clause("operators.errors.values")
def test_one_index_among_many(stack, device, program):
    """One index out of range among very many is refused."""
    run = stack.run(program, many_indices)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)


@by_scope("row", operators("reduction-errors", "pointwise-errors indexing-errors views-errors", each="errors"))
@clause("operators.errors.refused")
def test_error_inputs(stack, device, row):
    """What torch's own database says is refused, is refused."""
    assert_refused_as_eager(stack, row)
