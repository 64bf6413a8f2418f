"""Custom autograd functions under transforms: the rules that their authors wrote are the ones that apply."""

import pytest
import torch
from torch import func
from torch.autograd import forward_ad

from conformance import clause, needs, tensors


class OwnRules(torch.autograd.Function):
    """A backward and a jvp that disagree with each other and with the forward: the result says which was used."""

    @staticmethod
    def forward(x):
        return x + 4

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x * 3

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent - x

    @staticmethod
    def vmap(info, in_dims, x):
        return x * 8, in_dims[0]


class TwoTangents(torch.autograd.Function):
    """Gets a tangent for each input, None for the one that has none."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return x * y, x - y

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        pass

    @staticmethod
    def jvp(ctx, of_x, of_y):
        return of_x * 6, torch.zeros_like(of_x) if of_y is None else of_y * -5


class RuleByTorch(torch.autograd.Function):
    """Its vmap is generated from its forward; its backward is its own."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 9


def of_function(x, tangent):
    return func.jvp(OwnRules.apply, (x,), (tangent,))


def inside_of_function(x, tangent):
    return func.jvp(lambda one: (OwnRules.apply(one * 2) * one).sum(), (x,), (tangent,))


def of_two_tangents(x, tangent):
    return func.jvp(TwoTangents.apply, (x, x + 1), (tangent, tangent * 2))


def of_one_tangent(x, tangent):
    return func.jvp(lambda one: TwoTangents.apply(one, x), (x + 1,), (tangent,))


def as_dual(x, tangent):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(OwnRules.apply(forward_ad.make_dual(x, tangent)))


def columns_of_jacobian(x, tangent):
    return func.jacfwd(lambda one: TwoTangents.apply(one, one)[0])(x[0]), tangent


def over_rows(x, y):
    return func.vmap(OwnRules.apply)(x) + y


def over_columns(x, y):
    return func.vmap(lambda column: OwnRules.apply(column).sum(), in_dims=1)(x), y


def over_neither(x, y):
    """Its own rule is for what is mapped over alone."""
    return func.vmap(lambda row: row + OwnRules.apply(y[0]))(x)


def by_generated_rule(x, y):
    return func.vmap(RuleByTorch.apply)(x) + y


def by_generated_rule_in_function(x, y):
    return func.vmap(lambda row, other: RuleByTorch.apply(row) + other)(x, y)


def slope(x, y):
    return func.grad(lambda one: RuleByTorch.apply(one).sum())(x) * y


def pulled_back(x, y):
    value, pull = func.vjp(RuleByTorch.apply, x)
    return value, pull(y)


def slope_of_rows(x, y):
    return func.vmap(func.grad(lambda row: RuleByTorch.apply(row).sum()))(x) * y


def jacobian(x, y):
    return func.jacrev(RuleByTorch.apply)(x[0]) + y[0]


@pytest.mark.parametrize(
    "program", [of_function, inside_of_function, of_two_tangents, of_one_tangent, as_dual, columns_of_jacobian]
)
@clause("aot_autograd.custom_function.own_jvp")
def test_own_jvp(stack, device, program):
    """The tangent of what a custom function returns comes from the jvp that its author wrote."""
    run = stack.run(program, tensors((3, 4), (3, 4), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@pytest.mark.parametrize(
    "program", [over_rows, over_columns, over_neither, by_generated_rule, by_generated_rule_in_function]
)
@clause("aot_autograd.custom_function.own_vmap")
def test_own_vmap(stack, device, program):
    """A custom function is mapped by the rule that its author wrote, or asked torch to generate."""
    run = stack.run(program, tensors((3, 4), (3, 4), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@pytest.mark.parametrize("program", [slope, pulled_back, slope_of_rows, jacobian])
@needs("training")
@clause("aot_autograd.custom_function.own_backward_in_transforms")
def test_own_backward(stack, device, program):
    """A transform that differentiates a custom function uses the backward that its author wrote."""
    run = stack.run(program, tensors((3, 4), (3, 4), device=device, requires_grad=(False, True)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
