"""What a rewrite of operators in a row has to carry along: factors, rounding, dimensions, several users."""

import pytest
import torch

from conformance import clause, in_scopes, needs, tensors

FULL = in_scopes("full", "nightly")


def add_with_alpha(x, y):
    return torch.add(x * y, x, alpha=3)


def add_in_place_with_alpha(x, y):
    product = x * y
    return product.add_(y, alpha=-2)


def subtract_with_alpha(x, y):
    return torch.sub(x, y * 2, alpha=3).relu()


def addmm_with_factors(x, y):
    return torch.addmm(x, x, y, beta=3, alpha=-2) + 1


def addmm_without_bias(x, y):
    return torch.addmm(x, x, y, beta=0, alpha=2)


def baddbmm_with_factors(x, y):
    return torch.baddbmm(x[None], x[None], y[None], beta=2, alpha=3)


def product_of_factors(x, y):
    return torch.addcmul(x, x, y, value=3)


def divide_and_round(x, y):
    return torch.div(x * 7, 2, rounding_mode="floor"), torch.div(x * 7, 2, rounding_mode="trunc")


def reduce_and_keep(x, y):
    return x - x.amax(-1, keepdim=True), y.sum(-2, keepdim=True) * x


def negative_dimensions(x, y):
    return torch.stack([x, y], -2).cumsum(-3).flip(-1)


def intermediate_of_three_users(x, y):
    between = x * 2 + y
    return between.relu(), between.sum(), between


def one_user_writes(x, y):
    between = x * 2
    before = between + y
    between.add_(1)
    return before, between * y, between


def view_of_what_is_written(x, y):
    between = x + y
    row = between[0]
    between.mul_(2)
    return row + 1, between


CHAINS = [
    add_with_alpha,
    add_in_place_with_alpha,
    subtract_with_alpha,
    addmm_with_factors,
    addmm_without_bias,
    baddbmm_with_factors,
    product_of_factors,
    divide_and_round,
    reduce_and_keep,
    negative_dimensions,
    intermediate_of_three_users,
    one_user_writes,
    view_of_what_is_written,
]


def all_at_once(x, y):
    return [chain(x.clone(), y.clone()) for chain in CHAINS]


@pytest.mark.parametrize(
    "dtype", [pytest.param(torch.float32, id="float32"), pytest.param(torch.int64, id="int64", marks=FULL)]
)
@clause("operators.chains.as_eager")
def test_chains(stack, device, dtype):
    """Factors, rounding, kept and negative dimensions, and intermediates of several users count as in eager."""
    run = stack.run(all_at_once, tensors((3, 3), (3, 3), device=device, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)


@FULL
@clause("operators.chains.as_eager")
def test_gradients_of_chains(stack, device):
    """The same factors and intermediates count in the gradients."""
    run = stack.run(all_at_once, tensors((3, 3), (3, 3), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)


@FULL
@pytest.mark.parametrize("chain", CHAINS[:3], ids=["add", "add_in_place", "subtract"])
@clause("operators.chains.as_eager")
def test_multiply_then_add(stack, device, chain):
    """A product that is added to, or from which is subtracted, is multiplied by the factor of the sum."""
    run = stack.run(chain, tensors((3,), (3,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)


def without_values(x, y, nothing):
    """What is multiplied by zero is ignored, whatever is in it; of a product with one row others are made than of the rest."""
    row, vector = nothing[:1], nothing[0]
    return (
        torch.addmm(nothing, x, y, beta=0),
        torch.addmm(vector, x[:1], y, beta=0),
        torch.addmm(y[0], row, y, alpha=0),
        torch.addmv(vector, x, y[0], beta=0),
        torch.baddbmm(nothing[None], x[None], y[None], beta=0),
        torch.addbmm(nothing, x[None], y[None], beta=0),
        torch.addr(nothing, x[0], y[0], beta=0),
    )


def and_nothing(device):
    x = torch.arange(9.0, device=device).reshape(3, 3)
    return [(x, x - 4, torch.full((3, 3), torch.nan, device=device))]


@clause("operators.chains.as_eager")
def test_factors_of_zero(stack, device):
    """A term whose factor is zero is left out, so that a NaN in it does not come out."""
    run = stack.run(without_values, and_nothing)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)


def infinities(device):
    numbers = torch.tensor([float("inf"), float("-inf"), float("nan"), 1.0, -7.5, 0.0], device=device)
    return [(numbers, torch.tensor([2.0, 2.0, 2.0, -2.0, 2.0, 2.0], device=device))]


def rounded_quotients(x, y):
    return torch.div(x, y, rounding_mode="floor"), torch.div(x, y, rounding_mode="trunc"), x // 0.5, torch.div(x, 2)


@FULL
@clause("operators.chains.as_eager")
def test_rounded_quotients_of_infinities(stack, device):
    """What an infinity is divided by and rounded to is what eager makes of it."""
    run = stack.run(rounded_quotients, infinities)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1)


def empty_results(device):
    given = torch.eye(3, device=device) * 2, torch.ones(3, device=device)
    return [(*given, torch.empty(0, device=device), torch.empty(0, device=device))]


def solved_twice(a, b, first, second):
    torch.linalg.solve(a, b, out=first)
    torch.linalg.solve(a, b, out=second)
    return first * 2, second * 2


@needs("graph_breaks")
@clause("operators.calls.repeated")
def test_results_that_are_resized(stack, device):
    """Of two tensors that are given for the results of one operator, and resized, the second is resized too."""
    run = stack.run(solved_twice, empty_results)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
