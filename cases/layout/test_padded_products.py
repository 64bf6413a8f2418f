"""Matmuls whose operands are padded to suit the hardware: neither values nor strides show the padding."""

import pytest
import torch

from conformance import Program, clause, expected, needs

#: What torch otherwise decides by a measurement. Devices that do not pad have nothing to get wrong.
PADDED = {"inductor.shape_padding": True, "inductor.force_shape_pad": True}


def numbers(shape, device):
    return (torch.arange(torch.Size(shape).numel(), device=device) % 5 - 2).reshape(shape).float()


def two_matrices(device):
    return [(numbers((2, 3), device), numbers((3, 2), device))]


def two_matrices_with_gradients(device):
    return [tuple(matrix.requires_grad_() for matrix in two_matrices(device)[0])]


def gradients(arguments, outputs):
    """The gradients as they come: what `.grad` holds has been laid out again."""
    return torch.autograd.grad(outputs.square().sum(), arguments)


def product(a, b):
    return torch.mm(a, b)


def sum_and_product(a, b):
    return torch.addmm(b.sum(0), a, b)


def products(a, b):
    return torch.bmm(a.expand(2, 2, 3), b.expand(2, 3, 2))


def transposed_product(a, b):
    return torch.mm(a, b).t()


every_product = pytest.mark.parametrize(
    ("program", "text"),
    [
        pytest.param(product, expected("""aten.mm"""), id="mm"),
        pytest.param(sum_and_product, expected("""aten.sum; aten.addmm"""), id="addmm"),
        pytest.param(products, expected("""aten.expand; aten.expand; aten.bmm"""), id="bmm"),
        pytest.param(transposed_product, expected("""aten.mm; aten.t"""), id="transposed"),
    ],
)


@needs("layout_optimization")
@every_product
@clause("layout.options.eager_strides")
def test_padded_product(stack, device, program, text):
    """A product of padded operands has eager's values and strides."""
    run = stack.run(program, two_matrices, inference=True, config=PADDED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(text)


@needs("layout_optimization", "training")
@every_product
@clause("layout.options.eager_strides")
def test_gradients_of_padded_product(stack, device, program, text):
    """A product of padded operands has gradients of eager's values and strides."""
    traced = Program(program, backward=False, after=gradients, config=PADDED)
    run = stack.run(traced, two_matrices_with_gradients)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(text)
