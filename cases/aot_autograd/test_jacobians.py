"""Jacobians: what `torch.func` makes of a function's derivatives inside a program is as in eager."""

import pytest
import torch
from torch import func

from conformance import clause, expected, needs, tensors


def cube(x):
    return x * x * x


def cubes(x):
    return cube(x).sum()


def scaled(x, y):
    return x * x * y


def pushed_forward(x, y):
    return func.jvp(cube, (x,), (y,))


def pushed_forward_twice(x, y):
    return func.jvp(lambda one: func.jvp(torch.square, (one,), (y,))[1], (x,), (y,))


def pulled_back(x, y):
    value, pull = func.vjp(scaled, x, y)
    return value, *pull(torch.ones_like(value))


def jacobian_backward(x, y):
    return func.jacrev(scaled)(x[0], y[0])


def jacobian_forward(x, y):
    return func.jacfwd(scaled, argnums=1)(x[0], y[0])


def second_derivatives(x, y):
    return func.hessian(cubes)(x[0]) + y[0]


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(pushed_forward, expected("""aten.alias; aten.mul; aten.alias; aten.alias; aten.mul; aten.mul; aten.add; aten.mul; aten.alias; aten.alias; aten.mul; aten.mul; aten.add; aten.alias"""), id="jvp"),
        pytest.param(pushed_forward_twice, expected("""\
aten.alias
aten.alias
aten.alias
aten.pow
aten.alias
aten.pow
aten.mul
aten.mul
aten.mul
aten.mul
aten.mul
aten.alias
aten.mul
aten.expand
aten._to_copy
aten.alias
"""), id="jvp_of_jvp"),
        pytest.param(pulled_back, expected("""aten.mul; aten.mul; aten.ones_like; aten.mul; aten.mul; aten.mul; aten.mul; aten.add"""), id="vjp"),
        pytest.param(jacobian_backward, expected("""\
aten.select
aten.select
aten.mul
aten.mul
aten.new_zeros
aten.diagonal
aten.fill
aten.diagonal_scatter
aten.view
aten.mul
aten.mul
aten.mul
aten.add
aten.split_with_sizes
aten.view
"""), id="jacrev"),
        pytest.param(jacobian_forward, expected("""\
aten.select
aten.select
aten.new_zeros
aten.diagonal
aten.fill
aten.diagonal_scatter
aten.mul
aten.alias
aten.view
aten.mul
aten.expand
aten._to_copy
aten.permute
aten.split_with_sizes
aten.view
"""), id="jacfwd"),
        pytest.param(second_derivatives, expected("""\
aten.select
aten.new_zeros
aten.diagonal
aten.fill
aten.diagonal_scatter
aten.alias
aten.mul
aten.alias
aten.alias
aten.view
aten.mul
aten.mul
aten.add
aten.mul
aten.sum
aten.new_zeros
aten.diagonal
aten.fill
aten.diagonal_scatter
aten.view
aten.view
aten.expand
aten.view
aten.view
aten.view
aten.expand
aten.alias
aten.mul
aten.expand
aten._to_copy
aten.mul
aten.view
aten.view
aten.view
aten.view
aten.expand
aten.alias
aten.mul
aten.expand
aten._to_copy
aten.alias
aten.alias
aten.mul
aten.view
aten.view
aten.mul
aten.add
aten.alias
aten.alias
aten.mul
aten.view
aten.view
aten.mul
aten.add
aten.add
aten.add
aten.split_with_sizes
aten.view
aten.permute
aten.split_with_sizes
aten.view
aten.select
aten.add
"""), id="hessian"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.transforms.same_results")
def test_derivatives(stack, device, program, operators):
    """Products with a Jacobian, and Jacobians, are eager\'s inside the program and have eager\'s gradients."""
    run = stack.run(program, tensors((3, 4), (3, 4), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
