"""Special values: NaN, both zeros, infinities, subnormals and the limits of a dtype, in what each family does."""

import pytest
import torch

from conformance import Program, clause, expected, needs, tensors


def views(x):
    return x[:, 1:], x.t(), x.reshape(-1)


def copies(x):
    return x.clone(), x * 1, x / 1, torch.cat([x, x])


def write(x):
    x[0].neg_()
    x.mul_(2)
    return x + x


def select(x):
    return torch.where(x > 0, x, -x), x.clamp(-1, 1), x.relu(), torch.maximum(x, x.flip(1))


def compare(x):
    return x == x, x < 0, x.isnan(), x.isinf(), x.signbit(), x.sign(), x.bool()


def reduce(x):
    return x.amax(1), x.min(1), x.argmax(1), x.sort(1).values


def cast(x):
    return x.double(), x.bfloat16(), x.nan_to_num()


def add_zero(x):
    return x + 0


def add_zeros(x):
    return x.ceil() + torch.zeros_like(x)


def square(x):
    return x * x


def absolute(x):
    return x.abs()


def rectified(x):
    return x.relu()


def largest(x):
    return x.amax(1)


def halve(x):
    return x * 0.5, (x * 2**-10) * 2**10


def wrap(x):
    return x + 1, x * 2, -x, x.abs()


def shift(x):
    return ~x, x & 3, x << 1, x >> 1


def total(x):
    return x.sum(1), x.cumsum(1), x.prod(1)


def divide(x):
    return x // 2, x % 3, torch.div(x, 2, rounding_mode="trunc")


def order(x):
    return x < 0, torch.maximum(x, -x), x.amax(1), x.argmin(1), x.sort(1).values


PROGRAMS = [
    pytest.param(views, expected("""aten.slice; aten.t; aten.view"""), id="views"),
    pytest.param(copies, expected("""aten.clone; aten.mul; aten.div; aten.cat"""), id="copies"),
    pytest.param(
        select,
        expected("""aten.gt; aten.neg; aten.where; aten.clamp; aten.relu; aten.flip; aten.maximum"""),
        id="select",
    ),
    pytest.param(
        compare,
        expected("""aten.eq; aten.lt; aten.isnan; aten.isinf; aten.signbit; aten.sign; aten._to_copy"""),
        id="compare",
    ),
    pytest.param(reduce, expected("""aten.amax; aten.min; aten.argmax; aten.sort"""), id="reduce"),
    pytest.param(cast, expected("""aten._to_copy; aten._to_copy; aten.nan_to_num"""), id="cast"),
    pytest.param(add_zero, expected("""aten.add"""), id="add_zero"),
    pytest.param(add_zeros, expected("""aten.ceil; aten.zeros_like; aten.add"""), id="add_zeros"),
]

DIFFERENTIABLE = [
    pytest.param(square, expected("""aten.mul; aten.mul; aten.add"""), id="square"),
    pytest.param(absolute, expected("""aten.sgn; aten.mul"""), id="absolute"),
    pytest.param(rectified, expected("""aten.threshold_backward"""), id="rectified"),
    pytest.param(largest, expected("""aten.view; aten.eq; aten.view; aten.sum; aten.div; aten.mul"""), id="largest"),
]

INTEGERS = [
    pytest.param(wrap, expected("""aten.add; aten.mul; aten.neg; aten.abs"""), id="wrap"),
    pytest.param(
        shift, expected("""aten.bitwise_not; aten.bitwise_and; aten.__lshift__; aten.__rshift__"""), id="shift"
    ),
    pytest.param(total, expected("""aten.sum; aten.cumsum; aten.prod"""), id="total"),
    pytest.param(divide, expected("""aten.floor_divide; aten.remainder; aten.div"""), id="divide"),
    pytest.param(order, expected("""aten.lt; aten.neg; aten.maximum; aten.amax; aten.argmin; aten.sort"""), id="order"),
]


@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@clause("aot_autograd.values.special")
def test_special_values(stack, device, program, operators):
    """Every special value of float32 gives what it gives in eager, the sign of a zero included."""
    run = stack.run(program, tensors((3, 4), device=device, special=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@needs("input_mutation")
@clause("aot_autograd.values.special")
def test_special_values_are_written(stack, device):
    """Special values are written back to the input bit for bit."""
    run = stack.run(write, tensors((3, 4), device=device, special=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.select
aten.neg
aten.select_scatter
aten.mul
aten.add
aten.copy_
""")


@pytest.mark.parametrize(("program", "operators"), DIFFERENTIABLE)
@needs("training")
@clause("aot_autograd.values.special")
def test_gradients_at_special_values(stack, device, program, operators):
    """Gradients at special values are eager's: which of two equal elements has one, and where NaN is."""
    run = stack.run(program, tensors((3, 4), device=device, requires_grad=True, special=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.operators.expect(operators)


@clause("aot_autograd.values.subnormal")
def test_subnormals(stack, device):
    """Numbers below the smallest normal one are computed with, and come back when they are made large again."""
    run = stack.run(Program.of(halve, inference=True), tensors((3, 4), device=device, special=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.mul
aten.mul
aten.mul
""")


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
@pytest.mark.parametrize(("program", "operators"), INTEGERS)
@clause("aot_autograd.values.special")
def test_limits_of_integers(stack, device, program, dtype, operators):
    """Integers at the limits of their dtype wrap, shift, divide and compare as in eager."""
    run = stack.run(program, tensors((3, 4), device=device, dtype=dtype, special=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
