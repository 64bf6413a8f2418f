"""Errors of operators: where an argument does not fit, the compiled call raises what eager raises.

Each program is called twice, with what fits and with what does not: the first call proves that it was compiled. What
needs no kernel of its own has none, so that a table of many refusals does not cost a compiler run for each.
"""

import pytest
import torch

from conformance import clause, expected, needs, tensors


def subtract(x, y):
    return x - y


def multiply_batches(x, y):
    return torch.bmm(x, y)


def add_in_place(x, y):
    return x.neg().add_(y / 2)


def index(x, y):
    return x.neg()[y]


def gather(x, y):
    return x.neg().gather(0, y.expand(1, 3).abs())


def choose(x, y):
    return torch.where(x, y, 1)


def add(x, y):
    return x.sin() + y


def add_broadcast_in_place(x, y):
    return x.sin().add_(y)


def view_as_six(x, y):
    return x.view(6), y


def view_transposed(x, y):
    return x.t().view(-1), y


def join(x, y):
    return torch.cat([x.sin(), y])


def expand_to_four(x, y):
    return x.expand(4), y


def convolve(x, y):
    return torch.nn.functional.conv1d(x, y)


def one_number(x, y):
    return (x.sin() + y).item()


def third_row(x, y):
    return x[2], y


def two_indices(x, y):
    return x[0, 0], y


def sum_second_dimension(x, y):
    return x.sin().sum(1) + y


def unsqueeze_third(x, y):
    return x.unsqueeze(2), y


def narrow_past_the_end(x, y):
    return x.narrow(0, 1, 2), y


@pytest.mark.parametrize(
    ("program", "fits", "refused", "message"),
    [
        pytest.param(add_in_place, torch.float32, torch.int64, expected("""RuntimeError: result type Float can't be cast to the desired output type Long"""), id="in-place"),
        pytest.param(index, torch.int64, torch.float32, expected("""IndexError: tensors used as indices must be long, int, byte or bool tensors"""), id="index"),
        pytest.param(gather, torch.int64, torch.float32, expected("""RuntimeError: gather(): Expected dtype int32/int64 for index"""), id="gather"),
        pytest.param(choose, torch.bool, torch.float32, expected("""RuntimeError: where expected condition to be a boolean tensor, but got a tensor with dtype Float"""), id="where"),
    ],
)  # fmt: skip
@needs("recompiles")
@clause("aot_autograd.errors.same_type_and_phase")
def test_wrong_dtype(stack, device, program, fits, refused, message):
    """A dtype that an operator does not take is refused with eager's exception."""
    first = tensors((3, 3), (1,), device=device, dtype=fits)
    run = stack.run(program, first.then(tensors((3, 3), (1,), device=device, dtype=refused)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=1, graph_breaks=None)
    run.eager_error.expect(message)


@pytest.mark.parametrize(
    ("program", "fits", "refused", "message"),
    [
        pytest.param(add, [(3,), (3,)], [(3,), (4,)], expected("""RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"""), id="broadcast"),
        pytest.param(add_broadcast_in_place, [(3,), (3,)], [(3,), (2, 3)], expected("""RuntimeError: output with shape [3] doesn't match the broadcast shape [2, 3]"""), id="broadcast-in-place"),
        pytest.param(multiply_batches, [(1, 2, 3), (1, 3, 2)], [(1, 2, 3), (1, 2, 3)], expected("""RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [1, 3] but got: [1, 2]."""), id="matmul"),
        pytest.param(view_as_six, [(2, 3), (1,)], [(2, 2), (1,)], expected("""RuntimeError: shape '[6]' is invalid for input of size 4"""), id="view"),
        pytest.param(view_transposed, [(1, 3), (1,)], [(2, 3), (1,)], expected("""\
RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans
across two contiguous subspaces). Use .reshape(...) instead.
"""), id="view-transposed"),
        pytest.param(join, [(2, 3), (2, 3)], [(2, 3), (2, 4)], expected("""RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1 in the list."""), id="cat"),
        pytest.param(expand_to_four, [(1,), (1,)], [(3,), (1,)], expected("""RuntimeError: The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 0.  Target sizes: [4].  Tensor sizes: [3]"""), id="expand"),
        pytest.param(convolve, [(1, 2, 5), (4, 2, 1)], [(1, 2, 5), (4, 3, 1)], expected("""RuntimeError: Given groups=1, weight of size [4, 3, 1], expected input[1, 2, 5] to have 3 channels, but got 2 channels instead"""), id="convolution"),
        pytest.param(third_row, [(3,), (1,)], [(2,), (1,)], expected("""IndexError: index 2 is out of bounds for dimension 0 with size 2"""), id="row"),
        pytest.param(two_indices, [(2, 2), (1,)], [(2,), (1,)], expected("""IndexError: too many indices for tensor of dimension 1"""), id="too-many-indices"),
        pytest.param(sum_second_dimension, [(2, 2), (1,)], [(2,), (1,)], expected("""IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"""), id="sum"),
        pytest.param(unsqueeze_third, [(2, 2), (1,)], [(2,), (1,)], expected("""IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)"""), id="unsqueeze"),
        pytest.param(narrow_past_the_end, [(3,), (1,)], [(2,), (1,)], expected("""RuntimeError: start (1) + length (2) exceeds dimension size (2)."""), id="narrow"),
    ],
)  # fmt: skip
@needs("recompiles")
@clause("aot_autograd.errors.same_type_and_phase")
def test_wrong_shape(stack, device, program, fits, refused, message):
    """A shape, index or dimension that an operator does not take is refused with eager's exception."""
    run = stack.run(program, tensors(*fits, device=device).then(tensors(*refused, device=device)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=1, graph_breaks=None)
    run.eager_error.expect(message)


@needs("recompiles")
@clause("aot_autograd.errors.same_type_and_phase")
def test_difference_of_bools(stack, device):
    """The difference of two tensors of bools is refused with eager's exception."""
    first = tensors((3,), (3,), device=device)
    run = stack.run(subtract, first.then(tensors((3,), (3,), device=device, dtype=torch.bool)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=1, graph_breaks=None)
    run.eager_error.expect(
        """RuntimeError: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.""",
        until="2.14",
    )
    # Later releases raise a subclass of RuntimeError for a dtype that an operator does not take.
    run.eager_error.expect(
        """NotImplementedError: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.""",
        since="2.14",
    )


@clause("aot_autograd.errors.same_type_and_phase")
def test_one_number_of_two(stack, device):
    """Asking a tensor of two elements for its number raises eager's exception."""
    run = stack.run(one_number, tensors((2,), (2,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, graph_breaks=None)
    run.eager_error.expect("""RuntimeError: a Tensor with 2 elements cannot be converted to Scalar""")
