"""Incoming gradients: whatever their strides, class or memory, the compiled backward gives eager's gradients."""

import pytest
import torch

from conformance import clause, expected, needs, tensors


def multiply(x, y):
    return x * y


def multiply_transposed(x, y):
    return (x * y).t()


def multiply_matrices(x, y):
    return x @ y.t()


def pool(x, y):
    return torch.nn.functional.avg_pool2d(x * y, 2)


class Tagged(torch.Tensor):
    """A subclass that changes nothing."""


def numbers(output):
    return (torch.arange(output.numel(), device=output.device) % 5 - 2).to(output.dtype).reshape(output.shape)


def transposed(output):
    return numbers(output.mT).mT


def expanded_number(output):
    return torch.full((), 2.0, dtype=output.dtype, device=output.device).expand(output.shape)


def expanded_row(output):
    return numbers(output[0]).expand(output.shape)


def every_second(output):
    return numbers(output).repeat_interleave(2, dim=-1)[..., ::2]


def behind_others(output):
    return torch.cat([numbers(output), numbers(output)])[len(output) :]


def tagged(output):
    return numbers(output).as_subclass(Tagged)


def parameter(output):
    return torch.nn.Parameter(numbers(output))


def channels_last(output):
    return numbers(output).contiguous(memory_format=torch.channels_last)


def conjugated(output):
    return (numbers(output) * (1 + 2j)).conj()


def negated(output):
    return (numbers(output) * (1 + 2j)).conj().imag.to(output.dtype)


@pytest.mark.parametrize("tangent", [transposed, expanded_number, expanded_row, every_second, behind_others])
@pytest.mark.parametrize(
    ("program", "graph"),
    [
        pytest.param(multiply, expected("""in0: f32[3, 3]; in1: f32[3, 3]; in2: f32[3, 3]; mul: f32[3, 3] = aten.mul(in2, in0); mul_1: f32[3, 3] = aten.mul(in2, in1); return (mul_1, mul)"""), id="mul"),
        pytest.param(multiply_matrices, expected("""\
in0: f32[3, 3]
in1: f32[3, 3](1, 3)
in2: f32[3, 3]
t: f32[3, 3](1, 3) = aten.t(in2)
mm: f32[3, 3] = aten.mm(t, in0)
t_1: f32[3, 3](1, 3) = aten.t(mm)
t_2: f32[3, 3] = aten.t(in1)
mm_1: f32[3, 3] = aten.mm(in2, t_2)
t_3: f32[3, 3] = aten.t(t_1)
return (t_3, mm_1)
"""), id="matmul"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.tangents.any_layout")
def test_tangent(stack, device, program, tangent, graph):
    """The gradients are eager's for an incoming gradient of a layout that the compiler did not foresee."""
    run = stack.run(program, tensors((3, 3), (3, 3), device=device, requires_grad=True), tangent=tangent)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.expect(graph)


@pytest.mark.parametrize("tangent", [transposed, expanded_number, expanded_row, every_second, behind_others])
@needs("training")
@clause("aot_autograd.tangents.any_layout")
def test_tangent_of_a_transposed_output(stack, device, tangent):
    """The gradients of a product that comes out transposed are eager's for an incoming gradient of any layout."""
    run = stack.run(multiply_transposed, tensors((3, 3), (3, 3), device=device, requires_grad=True), tangent=tangent)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.expect(
        """\
in0: f32[3, 3]
in1: f32[3, 3]
in2: f32[3, 3](1, 3)
t: f32[3, 3] = aten.t(in2)
mul: f32[3, 3] = aten.mul(t, in0)
mul_1: f32[3, 3] = aten.mul(t, in1)
return (mul_1, mul)
""",
        since="2.12",
    )
    # Before 2.12 every tangent is taken to be contiguous, not to have the strides of its output.
    run.backward.expect(
        """\
in0: f32[3, 3]
in1: f32[3, 3]
in2: f32[3, 3]
t: f32[3, 3](1, 3) = aten.t(in2)
mul: f32[3, 3](1, 3) = aten.mul(t, in0)
mul_1: f32[3, 3](1, 3) = aten.mul(t, in1)
return (mul_1, mul)
""",
        until="2.12",
    )


@pytest.mark.parametrize("tangent", [tagged, parameter])
@needs("training")
@clause("aot_autograd.tangents.subclass")
def test_tangent_of_a_subclass(stack, device, tangent):
    """The gradients are eager's for an incoming gradient whose class is a subclass that changes nothing."""
    run = stack.run(multiply, tensors((3, 3), (3, 3), device=device, requires_grad=True), tangent=tangent)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3, 3]
in1: f32[3, 3]
mul: f32[3, 3] = aten.mul(in0, in1)
return (mul, in0, in1)
""")


@pytest.mark.parametrize("tangent", [transposed, channels_last, expanded_number])
@needs("training")
@clause("aot_autograd.tangents.any_layout")
def test_tangent_of_images(stack, device, tangent):
    """The gradients are eager's for an incoming gradient whose channels lie elsewhere than the output's."""
    run = stack.run(pool, tensors((2, 3, 4, 4), (2, 3, 4, 4), device=device, requires_grad=True), tangent=tangent)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.expect("""\
in0: f32[2, 3, 4, 4]
in1: f32[2, 3, 4, 4]
in2: f32[2, 3, 4, 4]
in3: f32[2, 3, 2, 2]
avg_pool2d_backward: f32[2, 3, 4, 4] = aten.avg_pool2d_backward(in3, in2, [2, 2], [], [0, 0], False, True, None)
mul: f32[2, 3, 4, 4] = aten.mul(avg_pool2d_backward, in0)
mul_1: f32[2, 3, 4, 4] = aten.mul(avg_pool2d_backward, in1)
return (mul_1, mul)
""")


@pytest.mark.parametrize("tangent", [conjugated, negated])
@needs("training")
@clause("aot_autograd.tangents.any_layout")
def test_lazy_tangent(stack, device, tangent):
    """The gradients are eager's for an incoming gradient that is conjugated or negated only when it is read."""
    inputs = tensors((3, 3), (3, 3), device=device, dtype=torch.complex64, requires_grad=True)
    run = stack.run(multiply, inputs, tangent=tangent)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.expect("""\
in0: c64[3, 3]
in1: c64[3, 3]
in2: c64[3, 3]
_conj: c64[3, 3] = aten._conj(in0)
clone: c64[3, 3] = aten.clone(_conj)
mul: c64[3, 3] = aten.mul(in2, clone)
_conj_1: c64[3, 3] = aten._conj(in1)
clone_1: c64[3, 3] = aten.clone(_conj_1)
mul_1: c64[3, 3] = aten.mul(in2, clone_1)
return (mul_1, mul)
""")
