"""Outputs whose elements lie over each other: every element's own incoming gradient counts."""

import pytest
import torch

from conformance import clause, expected, needs, tensors


def unfolded(x):
    return (x * x).unfold(1, 3, 1)


def unfolded_twice(x):
    return (x * x).unfold(1, 3, 1).unfold(0, 2, 1)


def windows_of_input(x):
    return x.unfold(1, 2, 1)


def expanded(x):
    return (x * x).sum(0, keepdim=True).expand(3, 4)


def expanded_number(x):
    return x.sin().sum().expand(2, 3)


def expanded_input(x):
    return x[:, :1].expand(3, 4)


def broadcast(x):
    return torch.broadcast_to((x * x)[0], (2, 3, 4))


def strided(x):
    return (x * x).as_strided((5, 4), (2, 1))


def strided_over_one(x):
    return (x * x).as_strided((2, 3), (0, 4), 1)


def beside_another(x):
    y = x * x
    return y.unfold(1, 3, 1), y


def uneven(output):
    numbers = torch.arange(output.numel(), dtype=output.dtype, device=output.device)
    return (numbers * numbers - 3).reshape(output.shape)


PROGRAMS = [
    pytest.param(unfolded, expected("""aten.unfold_backward; aten.mul; aten.mul; aten.add"""), id="unfold"),
    pytest.param(
        unfolded_twice,
        expected("""aten.unfold_backward; aten.unfold_backward; aten.mul; aten.mul; aten.add"""),
        id="unfold_twice",
    ),
    pytest.param(windows_of_input, expected("""(no operator)"""), id="unfold_of_input"),
    pytest.param(expanded, expected("""aten.sum; aten.expand; aten.mul; aten.mul; aten.add"""), id="expand"),
    pytest.param(expanded_number, expected("""aten.sum; aten.expand; aten.cos; aten.mul"""), id="expand_of_number"),
    pytest.param(expanded_input, expected("""(no operator)"""), id="expand_of_input"),
    pytest.param(
        broadcast,
        expected("""aten.sum; aten.view; aten.select_backward; aten.mul; aten.mul; aten.add"""),
        id="broadcast_to",
    ),
    pytest.param(
        strided_over_one,
        expected(
            """aten.sum; aten.new_zeros; aten.as_strided; aten.copy; aten.as_strided_scatter; aten.as_strided; aten.mul; aten.mul; aten.add"""
        ),
        id="as_strided_over_one",
    ),
    pytest.param(beside_another, expected("""aten.mul; aten.mul; aten.add"""), id="beside_its_base"),
]


@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@needs("training")
@clause("aot_autograd.tangents.of_overlapping_output")
def test_uneven_tangent(stack, device, program, operators):
    """The gradients are eager's for an output whose elements share memory and whose incoming gradient is uneven."""
    run = stack.run(program, tensors((3, 4), device=device, requires_grad=True), tangent=uneven)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.operators.expect(operators)


@needs("training")
@clause("aot_autograd.tangents.of_overlapping_output")
def test_uneven_tangent_of_strided(stack, device):
    """The gradients are eager's for elements shared as no view but `as_strided` shares them."""
    run = stack.run(strided, tensors((3, 4), device=device, requires_grad=True), tangent=uneven)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.operators.expect(
        """\
aten.new_zeros
aten.arange
aten.as_strided
aten.view
aten.clone
aten._unsafe_view
aten.index_add
aten.as_strided
aten.mul
aten.mul
aten.add
""",
        until="2.13",
    )
    run.backward.operators.expect(
        """\
aten.new_zeros
aten.arange
aten.as_strided
aten.clone
aten._unsafe_view
aten.clone
aten._unsafe_view
aten.index_add
aten.as_strided
aten.mul
aten.mul
aten.add
""",
        since="2.13",
    )
