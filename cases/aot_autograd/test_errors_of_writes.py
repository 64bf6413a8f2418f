"""Errors of writes and of backward: what eager refuses, in place or later, is refused by the compiled call too."""

import pytest
import torch

from conformance import clause, expected, needs, tensors


def add_to_expanded_rows(x):
    y = x.expand(3, *x.shape)
    y[0:3, 0].add_(5)
    return x


def add_to_expanded_intermediate(x):
    y = x.sin().unsqueeze(0).expand(3, *x.shape)
    return y.add_(1)


def add_shifted(x):
    y = x.sin()
    flat = y.view(-1)
    flat[1:].add_(flat[:-1])
    return y


def add_to_input(x):
    y = x.sin()
    x.add_(1)
    return y + x


def add_to_row_of_input(x):
    y = x.sin()
    x[0].add_(1)
    return y + x


def add_to_one_of_two_views(x):
    first, second = x.sin().unbind()
    first.add_(1)
    return first + second


def zero_input(x):
    y = x.sin()
    x.zero_()
    return y


class RefusesBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("no gradient today")


class TwoRowsOfGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.sum(0, keepdim=True).expand(2, 2)


def refuse_backward(x):
    return RefusesBackward.apply(x.sin())


def return_two_rows_of_gradient(x):
    return TwoRowsOfGradient.apply(x.sin())


def use_operator_without_derivative(x):
    return torch.special.gammainc(x.exp(), x.exp())


def made_in_inference_mode(device):
    with torch.inference_mode():
        return [(torch.ones(2, 2, device=device),)]


@needs("input_mutation")
@clause("aot_autograd.errors.several_writes_to_one_location")
def test_write_to_expanded_rows(stack, device):
    """Writing through an expanded view of an input to one location several times raises as it does in eager."""
    run = stack.run(add_to_expanded_rows, tensors((2, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)
    run.eager_error.expect("""\
RuntimeError: unsupported operation: more than one element of the written-to tensor refers to a single memory
location. Please clone() the tensor before performing the operation.
""")


@pytest.mark.parametrize(
    ("program", "message"),
    [
        pytest.param(add_to_expanded_intermediate, expected("""\
RuntimeError: unsupported operation: more than one element of the written-to tensor refers to a single memory
location. Please clone() the tensor before performing the operation.
"""), id="expanded"),
        pytest.param(add_shifted, expected("""\
RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a
single memory location. Please clone() the tensor before performing the operation.
"""), id="overlapping"),
    ],
)  # fmt: skip
@clause("aot_autograd.errors.same_type_and_phase")
def test_write_to_overlapping_memory(stack, device, program, message):
    """An in-place operation on an intermediate whose elements overlap raises as it does in eager."""
    run = stack.run(program, tensors((2, 2), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)
    run.eager_error.expect(message)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        pytest.param(add_to_input, expected("""RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."""), id="leaf"),
        pytest.param(add_to_row_of_input, expected("""RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation."""), id="view-of-leaf"),
        pytest.param(add_to_one_of_two_views, expected("""\
RuntimeError: Output 0 of Unbind is a view and is being modified inplace. This view is the output of a
function that returns multiple views. Such functions do not allow the output views to be modified inplace. You
should replace the inplace operation by an out-of-place one.
"""), id="one-of-several-views"),
    ],
)  # fmt: skip
@needs("recompiles")
@clause("aot_autograd.errors.same_type_and_phase")
def test_history_that_does_not_allow_it(stack, device, program, message):
    """What is allowed without grad and refused with it raises as it does in eager, once the input requires grad."""
    without_grad = tensors((2, 2), device=device)
    run = stack.run(program, without_grad.then(tensors((2, 2), device=device, requires_grad=True)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=1)
    run.eager_error.expect(message)


@clause("aot_autograd.errors.same_type_and_phase")
def test_write_to_inference_tensor(stack, device):
    """A tensor made in inference mode cannot be written to outside of it."""
    run = stack.run(zero_input, made_in_inference_mode)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)
    run.eager_error.expect("""\
RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to
get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.
""")


@needs("training")
@clause("aot_autograd.errors.same_type_and_phase")
def test_backward_that_raises(stack, device):
    """A custom backward that raises in eager raises the same type, no later than there."""
    run = stack.run(refuse_backward, tensors((2, 2), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, graph_breaks=None)
    run.eager_error.expect("""ValueError: no gradient today""")


@needs("recompiles", "training")
@clause("aot_autograd.errors.same_type_and_phase")
def test_gradient_of_wrong_shape(stack, device):
    """A custom backward whose gradient has the shape of one input and not of the next raises for the next."""
    first = tensors((2, 2), device=device, requires_grad=True)
    run = stack.run(return_two_rows_of_gradient, first.then(tensors((3, 2), device=device, requires_grad=True)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.eager_error.expect(
        """RuntimeError: Function TwoRowsOfGradientBackward returned an invalid gradient at index 0 - got [2, 2] but expected shape compatible with [3, 2]"""
    )


@needs("training")
@clause("aot_autograd.errors.same_type_and_phase")
def test_operator_without_derivative(stack, device):
    """Backward through an operator that has no derivative raises as it does in eager."""
    run = stack.run(use_operator_without_derivative, tensors((2, 2), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)
    run.eager_error.expect("""NotImplementedError: the derivative for 'igamma: input' is not implemented.""")
