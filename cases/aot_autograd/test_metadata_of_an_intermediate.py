"""Metadata mutation of an intermediate: the output has the shape, strides and history that the program gave it."""

import pytest
import torch

from conformance import Program, clause, expected


def t(x):
    y = x * 2
    y.t_()
    return y


def transpose(x):
    y = x * 2
    y.transpose_(0, 1)
    return y


def swapaxes(x):
    y = x * 2
    y.swapaxes_(0, 1)
    return y


def unsqueeze(x):
    y = x * 2
    y.unsqueeze_(1)
    return y


def squeeze(x):
    y = x[:1] * 2
    y.squeeze_(0)
    return y


def as_strided(x):
    y = x * 2
    y.as_strided_((2, 2), (1, 2))
    return y


def set(x):
    y = x.detach() * 2
    y.set_(x.detach())
    return y, x * 3


def detach(x):
    y = x * 2
    y.detach_()
    return y, x * 3


def under_two_names(x):
    y = x * 2
    z = y
    z.t_()
    return y, z


def t_and_a_view(x):
    y = x * 2
    y.transpose_(0, 1)
    return y, y[0]


def view_before_t(x):
    y = x * 2
    flat = y.view(6)
    y.t_()
    return y, flat


def t_then_write(x):
    y = x * 2
    y.t_()
    y[0].mul_(3)
    return y


def view_of_input(x):
    y = x.view(3, 2)
    y.t_()
    return y, x * 2


def input_by_another_name(x):
    y = x.contiguous()
    y.unsqueeze_(1)
    return x * 2


def plain(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]


def with_history(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3).requires_grad_().clone(),)]


def write_all(arguments, outputs):
    """What has the memory of an input, in whatever shape by now, shows the write."""
    with torch.no_grad():
        arguments[0].fill_(40)


PROGRAMS = [
    pytest.param(t, expected("""aten.mul; aten.t"""), id="t"),
    pytest.param(transpose, expected("""aten.mul; aten.transpose"""), id="transpose"),
    pytest.param(swapaxes, expected("""aten.mul; aten.transpose"""), id="swapaxes"),
    pytest.param(unsqueeze, expected("""aten.mul; aten.unsqueeze"""), id="unsqueeze"),
    pytest.param(squeeze, expected("""aten.slice; aten.mul; aten.squeeze"""), id="squeeze"),
    pytest.param(as_strided, expected("""aten.mul; aten.as_strided"""), id="as_strided"),
    pytest.param(set, expected("""aten.detach; aten.mul"""), id="set"),
    pytest.param(detach, expected("""aten.mul; aten.mul"""), id="detach"),
    pytest.param(under_two_names, expected("""aten.mul; aten.t"""), id="under_two_names"),
    pytest.param(t_and_a_view, expected("""aten.mul; aten.transpose; aten.select"""), id="t_and_a_view"),
    pytest.param(
        t_then_write,
        expected("""aten.mul; aten.t; aten.select; aten.mul; aten.t; aten.select_scatter; aten.t; aten.t"""),
        id="t_then_write",
    ),
    pytest.param(view_of_input, expected("""aten.view; aten.t; aten.mul"""), id="view_of_input"),
]

OTHER_NAMES = [
    pytest.param(view_before_t, expected("""mul; view; t_"""), id="view_before_t"),
    pytest.param(input_by_another_name, expected("""contiguous; unsqueeze_; mul"""), id="input_by_another_name"),
]


@pytest.mark.parametrize("calls", [pytest.param(plain, id="without_grad"), pytest.param(with_history, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@clause("aot_autograd.metadata.intermediate")
def test_output_has_the_new_shape(stack, device, program, operators, calls):
    """A tensor made in the program and changed in place has eager's shape, strides, memory and history when it comes out."""
    run = stack.run(Program.of(program, after=write_all), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("calls", [pytest.param(plain, id="without_grad"), pytest.param(with_history, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), OTHER_NAMES)
@clause("aot_autograd.metadata.intermediate")
def test_other_names_of_the_tensor(stack, device, program, operators, calls):
    """What was a name or a view of the tensor before its shape changed is after it what it is in eager."""
    run = stack.run(Program.of(program, after=write_all), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
