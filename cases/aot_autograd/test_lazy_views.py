"""Lazily conjugated and negated views: a bit of the tensor says that its memory holds the conjugates, or negatives."""

import pytest
import torch

from conformance import Program, clause, expected, needs


def scale(x):
    return x * 2


def copy(x):
    return x.clone()


def split(x):
    return x.reshape(2, 2), x[1:]


def conjugate(x):
    return x.conj()


def imaginary_part(x):
    return x.conj().imag


def resolve(x):
    return x.conj().resolve_conj(), x.conj().imag.resolve_neg()


def conjugate_product(x):
    return (x * 2).conj()


def imaginary_part_of_product(x):
    return (x * 2).conj().imag


def write_conjugate(x):
    conjugate = x.conj()
    conjugate.mul_(2)
    conjugate[0].add_(1j)
    return conjugate


def write_imaginary_part(x):
    x.conj().imag.add_(3)
    return x * 1


def plain(device):
    return [(torch.tensor([1 + 2j, 3 - 4j, -5 + 6j, 7 - 8j], device=device),)]


def differentiable(device):
    return [(torch.tensor([1 + 2j, 3 - 4j, -5 + 6j, 7 - 8j], device=device, requires_grad=True),)]


def conjugated(device):
    return [(torch.tensor([1 + 2j, 3 - 4j, -5 + 6j, 7 - 8j], device=device).conj(),)]


def negated(device):
    return [(torch.tensor([1 + 2j, 3 - 4j, -5 + 6j, 7 - 8j], device=device).conj().imag,)]


def write_first(arguments, outputs):
    """A write to what comes out shows in the input, where the two share memory."""
    first = outputs[0] if isinstance(outputs, tuple) else outputs
    with torch.no_grad():
        first[0] = 9
    return arguments[0].detach() * 1


@pytest.mark.parametrize("calls", [conjugated, negated])
@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(scale, expected("""aten.clone; aten.mul"""), id="scale"),
        pytest.param(copy, expected("""aten.clone"""), id="copy"),
        pytest.param(split, expected("""aten.view; aten.slice"""), id="split"),
    ],
)
@clause("aot_autograd.lazy_views.input")
def test_lazy_view_as_an_input(stack, device, program, calls, operators):
    """What is computed of a lazy view is computed of the numbers that it stands for."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(conjugate, expected("""aten._conj"""), id="conjugate"),
        pytest.param(
            imaginary_part,
            expected("""aten._conj; aten._conj; aten.view_as_real; aten._neg_view; aten.select"""),
            id="imaginary_part",
        ),
        pytest.param(
            resolve,
            expected(
                """aten._conj; aten.clone; aten._conj; aten._conj; aten.view_as_real; aten._neg_view; aten.select; aten.clone"""
            ),
            id="resolve",
        ),
    ],
)
@clause("aot_autograd.lazy_views.output")
def test_lazy_view_of_an_input(stack, device, program, operators):
    """A lazy view comes out as a view of the input, a resolved one as a copy."""
    run = stack.run(Program.of(program, after=write_first), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("calls", [plain, differentiable])
@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(conjugate_product, expected("""aten.mul; aten._conj"""), id="conjugate"),
        pytest.param(
            imaginary_part_of_product,
            expected("""aten.mul; aten._conj; aten._conj; aten.view_as_real; aten._neg_view; aten.select"""),
            id="imaginary_part",
        ),
    ],
)
@needs("training")
@clause("aot_autograd.lazy_views.intermediate")
def test_lazy_view_of_an_intermediate(stack, device, program, calls, operators):
    """A lazy view of what is computed comes out as one, and its gradient goes back through it."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("program", [write_conjugate, write_imaginary_part], ids=["conjugate", "imaginary_part"])
@clause("aot_autograd.lazy_views.written")
def test_write_through_a_lazy_view(stack, device, program):
    """What is written to a lazy view is in the input, conjugated or negated."""
    run = stack.run(program, plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
