"""Writes as other types: what a program writes to a view of another type is in the input afterwards."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, expected


def real(x):
    x.real.mul_(2)
    return x * 3


def imag_of_a_row(x):
    x.imag[0].fill_(3)
    return x.real * 2


def view_as_real(x):
    torch.view_as_real(x)[..., 0].add_(4)
    return x * 3


def conjugate(x):
    """The write is of the conjugate: what is added to the view is subtracted from the imaginary part."""
    x.conj().imag.add_(5)
    return x * 3


def view_as_complex(x):
    torch.view_as_complex(x).mul_(2)
    return x * 3


def floats(x):
    x.view(torch.float32)[:, 1].add_(2)
    return x * 3


def whole_numbers(x):
    """The exponent is kept, the rest is cleared: what is left is the next lower power of two."""
    x.view(torch.int32).bitwise_and_(0x7F800000)
    return x * 3


def halves(x):
    x.view(torch.float16)[0].fill_(1)
    return x * 3


def view_before_the_write(x):
    imag = x.imag
    x.mul_(2)
    return imag, imag * 3


def plain(device, dtype):
    return [(torch.arange(1.0, 13, device=device).view(dtype).reshape(2, 3, -1).squeeze(2),)]


def with_history(device, dtype):
    leaf = torch.arange(1.0, 13, device=device).view(dtype).clone().requires_grad_()
    return [(leaf.clone().reshape(2, 3, -1).squeeze(2),)]


def write_to_the_first(x, y):
    x.add_(1)
    return y + 1


def floats_and_their_bits(device):
    x = torch.arange(1.0, 5, device=device)
    return [(x, x.view(torch.int32))]


PROGRAMS = [
    pytest.param(real, torch.complex64, expected("""getattr; mul_; mul"""), id="real"),
    pytest.param(imag_of_a_row, torch.complex64, expected("""getattr; fill_; getattr; mul"""), id="imag_of_a_row"),
    pytest.param(view_as_real, torch.complex64, expected("""view_as_real; add_; mul"""), id="view_as_real"),
    pytest.param(conjugate, torch.complex64, expected("""conj; getattr; add_; mul"""), id="conjugate"),
    pytest.param(view_as_complex, torch.float32, expected("""view_as_complex; mul_; mul"""), id="view_as_complex"),
    pytest.param(floats, torch.complex64, expected("""view; add_; mul"""), id="floats"),
    pytest.param(whole_numbers, torch.float32, expected("""view; bitwise_and_; mul"""), id="whole_numbers"),
    pytest.param(halves, torch.float32, expected("""view; fill_; mul"""), id="halves"),
    pytest.param(
        view_before_the_write, torch.complex64, expected("""getattr; mul_; mul"""), id="view_before_the_write"
    ),
]


@pytest.mark.parametrize("calls", [pytest.param(plain, id="without_grad"), pytest.param(with_history, id="with_grad")])
@pytest.mark.parametrize(("program", "dtype", "operators"), PROGRAMS)
@clause("aot_autograd.mutation.writeback")
def test_input_holds_what_was_written_as_another_type(stack, device, program, dtype, operators, calls):
    """An input that the program writes to as numbers of another type holds eager's value afterwards."""
    run = stack.run(program, partial(calls, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize("inference", ["no_grad", "inference_mode"])
@pytest.mark.parametrize(("program", "dtype", "operators"), PROGRAMS[:-1])
@clause("aot_autograd.mutation.writeback")
def test_input_holds_what_was_written_with_gradients_off(stack, device, program, dtype, operators, inference):
    """With gradients off, an input without history that is written to as another type holds eager's value."""
    run = stack.run(Program.of(program, inference=inference), partial(plain, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@clause("aot_autograd.mutation.writeback")
def test_write_to_one_of_two_types(stack, device):
    """Of two arguments that read one memory as different types, the second holds what is written to the first."""
    run = stack.run(write_to_the_first, floats_and_their_bits)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
add_
add
""")
