"""Integers and booleans, which have one right answer each."""

import pytest
import torch

from conformance import clause, in_scopes, on_devices

FULL = in_scopes("full", "nightly")
MULTIPLIES_BYTES = on_devices(
    "cpu", reason="eager has no product of matrices of bytes anywhere else, so that there is no result to compare with"
)


def bytes_of(device):
    return [(torch.tensor([3, 128, 250, 255], dtype=torch.uint8, device=device),)]


def signed_bytes(device):
    return [(torch.tensor([[-128, -7, -1], [0, 7, 127]], dtype=torch.int8, device=device),)]


def integers(device):
    return [(torch.tensor([-(2**63), -7, -1, 0, 1, 7, 2**63 - 1], device=device),)]


def flags(device):
    return [(torch.tensor([[True, False, True], [True, True, False]], device=device),)]


def floats(device):
    """All of them fit into a byte: what others become is undefined and varies, says torch of `Tensor.to`."""
    return [(torch.tensor([0.5, -0.5, 2.75, -2.75, 120.5, -128.0], device=device),)]


def one_number(device):
    return [(torch.arange(3.0, device=device),)]


def difference_wraps_before_sum(x):
    wrapped = x - 130
    return torch.stack([wrapped, wrapped]).sum()


def negation_wraps_before_sum(x):
    opposite = -x.abs()
    return torch.cat([opposite, opposite, opposite]).sum()


def product_wraps_before_maximum(x):
    return (x * 3).amax(), (x + 200).float(), -x


def shifts(x):
    return x << 1, x >> 1, x.bitwise_left_shift(2), ~x, x ^ 85


def products_of_bytes(x):
    return x.mT @ x, torch.stack([x, x]) @ x.mT


def batches_of_one_row(x):
    left, right = torch.stack([x, x])[:, :1], torch.stack([x.mT, x.mT])
    return left @ right, torch.bmm(right.mT, left.mT)


def sums_of_bytes(x):
    return x.sum(0), x.cumsum(1), x.abs(), -x, x.prod()


def floors_and_remainders(x):
    return x // 3, x // -3, x % 3, x % -3, torch.fmod(x, -3), torch.div(x, -3, rounding_mode="trunc")


def limits_wrap(x):
    return x + 1, x - 1, x * 2, x.abs(), -x, x.sum()


def arguments_of_flags(x):
    return x.int().argmin(1), x.any(0), x.all(1), x.sum(), x.to(torch.uint8).argmax(1)


def arithmetic_of_flags(x):
    return x + x, x * x, x & ~x, x ^ True, x.cumsum(0), x | False, x.float().mean()


def casts_of_floats(x):
    return x.int(), x.long(), x.to(torch.int8).float(), x.bool(), x.trunc().to(torch.int16)


def casts_out_of_range(x):
    return x.int(), x.to(torch.int8).float(), x.to(torch.uint8), x.to(torch.int16) + 1, x.bool()


def running_sum_of_a_number(x):
    return torch.full((), 4.0, device=x.device).cumsum(0) * x


def running_product_of_a_number(x):
    return torch.full((), 4.0, device=x.device).cumprod(0) * x


def all_operands(device):
    made = (bytes_of, signed_bytes, integers, flags, floats)
    return [tuple(operand for make in made for operand in make(device)[0])]


def all_at_once(small, signed, wide, bits, single):
    """Most of what stands alone in the longer scopes: one program costs a compiler less."""
    of_matrices = products_of_bytes(signed) if signed.is_cpu else ()  # eager has it nowhere else, and would end here
    of_bytes = [program(small) for program in (difference_wraps_before_sum, product_wraps_before_maximum, shifts)]
    of_signed = [program(signed) for program in (sums_of_bytes, floors_and_remainders)]
    of_wide = [program(wide) for program in (shifts, floors_and_remainders, limits_wrap, casts_out_of_range)]
    of_flags = arguments_of_flags(bits), arithmetic_of_flags(bits)
    return of_matrices, of_bytes, of_signed, of_wide, of_flags, casts_of_floats(single)


QUICK = {
    "all_at_once": (all_at_once, all_operands),
    "negation_wraps": (negation_wraps_before_sum, bytes_of),
    "batches_of_one_row": (batches_of_one_row, signed_bytes),
    "running_sum_of_a_number": (running_sum_of_a_number, one_number),
}
ALONE = {
    "wrap_before_sum": (difference_wraps_before_sum, bytes_of),
    "wrap_before_maximum": (product_wraps_before_maximum, bytes_of),
    "shifts_of_bytes": (shifts, bytes_of),
    "shifts": (shifts, integers),
    "matmul_of_bytes": (products_of_bytes, signed_bytes),
    "sums_of_bytes": (sums_of_bytes, signed_bytes),
    "floors": (floors_and_remainders, integers),
    "floors_of_bytes": (floors_and_remainders, signed_bytes),
    "limits": (limits_wrap, integers),
    "arguments_of_flags": (arguments_of_flags, flags),
    "flags": (arithmetic_of_flags, flags),
    "casts_of_floats": (casts_of_floats, floats),
    "casts_out_of_range": (casts_out_of_range, integers),
    "running_product_of_a_number": (running_product_of_a_number, one_number),
}
OF_MATRICES = ("batches_of_one_row", "matmul_of_bytes")


def rows(programs, *marks):
    for name, row in programs.items():
        yield pytest.param(*row, id=name, marks=[*marks, *([MULTIPLIES_BYTES] if name in OF_MATRICES else [])])


ROWS = [*rows(QUICK), *rows(ALONE, FULL)]


@pytest.mark.parametrize(("program", "calls"), ROWS)
@clause("operators.results.exact_integers")
def test_exact(stack, device, program, calls):
    """Every element is eager's, and so is its dtype."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)
