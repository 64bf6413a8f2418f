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


def every_write(*inputs):
    """Each writes to an input of its own, so that with no gradients one graph has them all."""
    of_complex = real(inputs[0]), imag_of_a_row(inputs[1]), view_as_real(inputs[2]), conjugate(inputs[3])
    of_real = view_as_complex(inputs[4]), whole_numbers(inputs[5]), halves(inputs[6])
    return *of_complex, *of_real, floats(inputs[7])


def numbers(device, dtype):
    return torch.arange(1.0, 13, device=device).view(dtype).reshape(2, 3, -1).squeeze(2)


def plain(device):
    dtypes = [torch.complex64] * 4 + [torch.float32] * 3 + [torch.complex64]
    return [tuple(numbers(device, dtype) for dtype in dtypes)]


def one(device):
    return [(numbers(device, torch.complex64),)]


def with_history(device, dtype):
    leaf = numbers(device, dtype).requires_grad_()
    return [(leaf.clone(),)]


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


@pytest.mark.parametrize(("program", "dtype", "operators"), PROGRAMS)
@clause("aot_autograd.mutation.writeback")
def test_input_holds_what_was_written_as_another_type(stack, device, program, dtype, operators):
    """An input with history that is written to as another dtype holds eager's value afterwards."""
    run = stack.run(program, partial(with_history, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize(
    "inference", [False, "no_grad", "inference_mode"], ids=["without_grad", "no_grad", "inference_mode"]
)
@clause("aot_autograd.mutation.writeback")
def test_input_holds_what_was_written_without_gradients(stack, device, inference):
    """With no gradients, an input that is written to as another dtype holds eager's value afterwards."""
    run = stack.run(Program.of(every_write, inference=inference), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
getattr
mul_
mul
getattr
fill_
getattr
mul
view_as_real
add_
mul
conj
getattr
add_
mul
view_as_complex
mul_
mul
view
bitwise_and_
mul
view
fill_
mul
view
add_
mul
""")


@clause("aot_autograd.mutation.writeback")
def test_view_before_the_write_without_gradients(stack, device):
    """A view of another type that was taken before a write to the whole input shows what was written."""
    run = stack.run(view_before_the_write, one)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
getattr
mul_
mul
""")


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
