"""Function transforms: what `torch.func` maps or differentiates inside a program is as in eager."""

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


def row_sum(x, y):
    return (x * y).sum()


def gradient(x, y):
    return func.grad(cubes)(x) * y


def gradient_of_second(x, y):
    return func.grad(row_sum, argnums=1)(x * x, y)


def gradient_and_value(x, y):
    return func.grad_and_value(row_sum, argnums=(0, 1))(x * x, y)


def gradient_of_gradient(x, y):
    return func.grad(lambda one: func.grad(cubes)(one).sum())(x) * y


def gradient_under_no_grad(x, y):
    with torch.no_grad():
        slope = func.grad(cubes)(x)
    return slope, slope * y


def gradient_of_captured(x, y):
    """What the function closes over is differentiated by the caller alone."""
    return func.grad(lambda one: (one * one * y).sum())(x)


def mapped(x, y):
    return func.vmap(row_sum)(x, y)


def mapped_over_columns(x, y):
    return func.vmap(scaled, in_dims=(1, None), out_dims=1)(x, y[:, 0])


def mapped_twice(x, y):
    return func.vmap(func.vmap(torch.mul, (None, 0)), (0, None))(x[0], y[0])


def mapped_in_pieces(x, y):
    return func.vmap(row_sum, chunk_size=2)(x, y)


def mapped_gradient(x, y):
    return func.vmap(func.grad(row_sum))(x * x, y)


def mapped_write(x, y):
    def fill(row, other):
        row = row.clone()
        row.add_(other)
        return row

    return func.vmap(fill)(x, y)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(gradient, expected("""aten.mul; aten.mul; aten.sum; aten.ones_like; aten.expand; aten.mul; aten.mul; aten.mul; aten.mul; aten.add; aten.add; aten.mul"""), id="grad"),
        pytest.param(gradient_of_second, expected("""aten.mul; aten.mul; aten.sum; aten.ones_like; aten.expand; aten.mul"""), id="grad_of_second"),
        pytest.param(gradient_and_value, expected("""aten.mul; aten.mul; aten.sum; aten.ones_like; aten.expand; aten.mul; aten.mul"""), id="grad_and_value"),
        pytest.param(gradient_of_gradient, expected("""\
aten.mul
aten.mul
aten.sum
aten.ones_like
aten.expand
aten.mul
aten.mul
aten.mul
aten.mul
aten.add
aten.add
aten.sum
aten.ones_like
aten.expand
aten.mul
aten.mul
aten.mul
aten.mul
aten.add
aten.add
aten.mul
aten.add
aten.mul
aten.mul
aten.mul
aten.add
aten.add
aten.mul
"""), id="grad_of_grad"),
        pytest.param(gradient_under_no_grad, expected("""aten.mul; aten.mul; aten.sum; aten.ones_like; aten.expand; aten.mul; aten.mul; aten.mul; aten.mul; aten.add; aten.add; aten.mul"""), id="grad_under_no_grad"),
        pytest.param(gradient_of_captured, expected("""aten.mul; aten.mul; aten.sum; aten.ones_like; aten.expand; aten.mul; aten.mul; aten.mul; aten.add"""), id="grad_of_captured"),
        pytest.param(mapped, expected("""aten.mul; aten.sum"""), id="vmap"),
        pytest.param(mapped_over_columns, expected("""aten.select; aten.permute; aten.permute; aten.mul; aten.mul; aten.permute"""), id="vmap_over_columns"),
        pytest.param(mapped_twice, expected("""aten.select; aten.select; aten.view; aten.mul"""), id="vmap_of_vmap"),
        pytest.param(mapped_in_pieces, expected("""aten.slice; aten.slice; aten.slice; aten.slice; aten.mul; aten.sum; aten.mul; aten.sum; aten.cat"""), id="vmap_in_pieces"),
        pytest.param(mapped_gradient, expected("""aten.mul; aten.mul; aten.sum; aten.ones_like; aten.view; aten.expand; aten.mul"""), id="vmap_of_grad"),
        pytest.param(mapped_write, expected("""aten.clone; aten.add"""), id="vmap_of_write"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.transforms.same_results")
def test_transformed_function(stack, device, program, operators):
    """A transformed function gives eager's results inside the program, and they have eager's gradients."""
    run = stack.run(program, tensors((3, 4), (3, 4), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
