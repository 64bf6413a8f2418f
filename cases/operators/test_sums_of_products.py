"""What fuses a multiplication with an addition has to carry along: the factor of the sum, whichever operand it scales."""

import pytest
import torch

from conformance import clause, in_scopes, on_devices, tensors

FULL = in_scopes("full", "nightly")
#: Why on CUDA it cannot be judged.
MULTIPLIES_INTEGERS = on_devices("cpu", reason="eager multiplies no matrices of integers on CUDA")


def product_first(x, y, z):
    return [torch.add(x * y, z, alpha=3), torch.sub(x * y, z, alpha=3), torch.rsub(x * y, z, alpha=3), x * y - z]


def product_second(x, y, z):
    return [torch.add(z, x * y, alpha=3), torch.sub(z, x * y, alpha=3), torch.rsub(z, x * y, alpha=3), z - x * y]


def product_with_a_number(x, y, z):
    return [torch.add(z, y * 2, alpha=3), torch.add(y * 2, z, alpha=-1), torch.sub(z, 2 * y, alpha=2), 5 - x * y]


def products_on_both_sides(x, y, z):
    return [torch.add(x * y, y * z, alpha=2), torch.sub(x * x, y * z, alpha=-3), (x * y + z) * (z + x * y)]


def product_in_place(x, y, z):
    return [z.clone().add_(x * y, alpha=2), z.clone().sub_(x * y, alpha=2), (x * y).add_(z, alpha=-1)]


def product_of_several_users(x, y, z):
    product = x * y
    return [torch.add(z, product, alpha=2), product, product.sum(), torch.sub(product, z, alpha=2)]


def product_that_broadcasts(x, y, z):
    return [torch.add(z, x[0] * y[0], alpha=2), torch.add(z[0], x * y, alpha=2), torch.sub(z[:, :1], x * y, alpha=2)]


def factor_of_the_product(x, y, z):
    return [torch.addcmul(z, x, y, value=3), torch.addcmul(x * y, z, z, value=-1) + torch.addcmul(z, x, y)]


def matrix_product_first(x, y, z):
    return [torch.add(x @ y, z, alpha=3), torch.sub(x @ y, z, alpha=2), torch.add(x @ y[0], z[0], alpha=2), x @ y - z]


def matrix_product_second(x, y, z):
    return [torch.add(z, x @ y, alpha=3), torch.sub(z, x @ y, alpha=2), torch.add(z[0], x @ y[0], alpha=2), z - x @ y]


def batches_of_products(x, y, z):
    first, second, third = x[None], y[None], z[None]
    return [
        torch.add(third, first @ second, alpha=3),
        torch.sub(first @ second, third, alpha=3),
        third - first @ second,
    ]


def bias_of_a_product(x, y, z):
    return [torch.addmm(z, x, y, beta=2, alpha=3), torch.add(torch.addmm(z, x, y), z, alpha=2), z[0] + x @ y]


PROGRAMS = [
    product_first,
    product_second,
    product_with_a_number,
    products_on_both_sides,
    product_in_place,
    product_of_several_users,
    product_that_broadcasts,
    factor_of_the_product,
    matrix_product_first,
    matrix_product_second,
    batches_of_products,
    bias_of_a_product,
]


def all_at_once(x, y, z):
    """What stands alone in the longer scopes: one program costs a compiler less."""
    return [program(x, y, z) for program in PROGRAMS]


def flags(x, y, z):
    """Booleans have no subtraction, and no factors but True."""
    return [z + x * y, x * y + z, torch.add(z, x * y, alpha=True), z | (x * y), (x & y) + z, z * (x + y), z + x * 2]


ROWS = [
    pytest.param(all_at_once, torch.float32, id="all_at_once-float32"),
    pytest.param(flags, torch.bool, id="flags-bool"),
    pytest.param(product_second, torch.float32, id="product_second-float32"),  # the fusion that is made most, alone
    pytest.param(all_at_once, torch.int64, id="all_at_once-int64", marks=[FULL, MULTIPLIES_INTEGERS]),
    pytest.param(all_at_once, torch.uint8, id="all_at_once-uint8", marks=[FULL, MULTIPLIES_INTEGERS]),
    pytest.param(all_at_once, torch.complex64, id="all_at_once-complex64", marks=FULL),
    *(
        pytest.param(one, torch.float32, id=f"{one.__name__}-float32", marks=FULL)
        for one in PROGRAMS
        if one is not product_second
    ),
]


@pytest.mark.parametrize(("program", "dtype"), ROWS)
@clause("operators.chains.as_eager")
def test_sums(stack, device, program, dtype):
    """A product that is added or subtracted is scaled as eager scales it, in the dtype that eager computes in."""
    run = stack.run(program, tensors((3, 3), (3, 3), (3, 3), device=device, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)
