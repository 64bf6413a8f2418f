"""Which dtype the result of operands of several dtypes has, and in which it is computed."""

import pytest
import torch

from conformance import clause, in_scopes

FULL = in_scopes("full", "nightly")


def calls(device):
    small = torch.tensor([250, 7, 3], dtype=torch.uint8, device=device)
    signed = torch.tensor([-3, 100, 127], dtype=torch.int8, device=device)
    wide = torch.tensor([2**40 + 1, -5, 3], dtype=torch.int64, device=device)
    half = torch.tensor([0.1, 1000.0, -2.5], dtype=torch.float16, device=device)
    single = torch.tensor([0.1, 16777217.0, -2.5], device=device)
    flags = torch.tensor([True, False, True], device=device)
    scalar = torch.tensor(0.5, dtype=torch.float64, device=device)
    return [(small, signed, wide, half, single, flags, scalar)]


def sums(small, signed, wide, half, single, flags, scalar):
    return [small + signed, small + wide, wide + half, half + single, flags + flags, flags + small, single + scalar]


def products(small, signed, wide, half, single, flags, scalar):
    return [small * signed, small * 2, small * 2.5, flags * 3, wide * scalar, half * scalar, half * single, wide * True]


def fused_sums_of_products(small, signed, wide, half, single, flags, scalar):
    return [small * signed + half, signed * 2 + wide, half * 0.5 + single, flags * small + signed, wide * 2 + scalar]


def quotients(small, signed, wide, half, single, flags, scalar):
    return [wide / 2, small / small, small // 2, signed // 2.0, wide % 4, flags / 2, half / wide, signed % -5]


def choices(small, signed, wide, half, single, flags, scalar):
    where, most = torch.where, torch.maximum
    return [where(flags, small, signed), where(flags, half, wide), where(flags, 1, single), most(half, single)]


def powers(small, signed, wide, half, single, flags, scalar):
    ldexp = [torch.ldexp(half, signed.clamp(-3, 3)), torch.ldexp(signed, torch.full_like(signed, 2))]
    return [small**2, 2**small, small**0.5, half**2, 2**half, flags**2, *ldexp]


def joined(small, signed, wide, half, single, flags, scalar):
    return [torch.cat([small, signed]), torch.stack([half, wide]), torch.cat([flags, half]), torch.cat([single, half])]


def reductions(small, signed, wide, half, single, flags, scalar):
    sums = [small.sum(), signed.prod(), flags.sum(), flags.cumsum(0), signed.cumsum(0), half.sum(dtype=torch.float32)]
    return [*sums, flags.sum(dtype=torch.int8), small.sum(dtype=torch.uint8), wide.float().mean()]


def comparisons(small, signed, wide, half, single, flags, scalar):
    return [small > signed, wide == single, half < 0.1, single <= 0.1, flags == 1, small != -1, signed >= scalar]


def in_place(small, signed, wide, half, single, flags, scalar):
    return [half.add_(single), wide.mul_(small), single.sub_(wide), signed.add_(flags), small.bitwise_and_(signed)]


PROGRAMS = [sums, products, fused_sums_of_products, quotients, choices, powers, joined, reductions, in_place]


def all_at_once(small, signed, wide, half, single, flags, scalar):
    """What stands alone in the longer scopes: one program costs a compiler less."""
    operands = (small, signed, wide, half, single, flags, scalar)
    return [program(*(operand.clone() for operand in operands)) for program in PROGRAMS]


ROWS = [
    pytest.param(all_at_once, id="all_at_once"),
    pytest.param(comparisons, id="comparisons"),
    *(pytest.param(program, id=program.__name__, marks=FULL) for program in PROGRAMS),
]


@pytest.mark.parametrize("program", ROWS)
@clause("operators.results.promotion")
def test_mixed_dtypes(stack, device, program):
    """Results have the dtype and the values that eager computes."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None)
