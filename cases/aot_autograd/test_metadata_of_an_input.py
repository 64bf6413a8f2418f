"""Metadata mutation of an input: the caller's tensor has the shape and strides that the program gave it."""

import pytest
import torch

from conformance import Program, clause, expected, needs


def t(x):
    x.t_()
    return x * 2


def transpose(x):
    x.transpose_(0, 1)
    return x * 2


def swapaxes(x):
    x.swapaxes_(0, 1)
    return x * 2


def unsqueeze(x):
    x.unsqueeze_(1)
    return x * 2


def squeeze(x):
    x.squeeze_(0)
    return x * 2


def as_strided(x):
    x.as_strided_((2, 2), (1, 2))
    return x * 2


def t_and_a_view(x):
    x.t_()
    return x[1], x * 2


def resize(x):
    x.resize_(3, 2)
    return x * 2


def shrink(x):
    x.resize_(2, 2)
    return x * 2


def exchange_data(x):
    x.data = torch.ones(2, 3, device=x.device)
    return x * 2


def demand_grad(x):
    x.requires_grad_()
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
    pytest.param(t, expected("""aten.mul"""), id="t"),
    pytest.param(transpose, expected("""aten.mul"""), id="transpose"),
    pytest.param(swapaxes, expected("""aten.mul"""), id="swapaxes"),
    pytest.param(unsqueeze, expected("""aten.mul"""), id="unsqueeze"),
    pytest.param(squeeze, expected("""aten.mul"""), id="squeeze"),
    pytest.param(as_strided, expected("""aten.mul"""), id="as_strided"),
    pytest.param(t_and_a_view, expected("""aten.select; aten.mul"""), id="t_and_a_view"),
]

RESIZES = [
    pytest.param(resize, expected("""aten.mul"""), id="resize"),
    pytest.param(shrink, expected("""aten.mul"""), id="shrink"),
]


@pytest.mark.parametrize("calls", [pytest.param(plain, id="without_grad"), pytest.param(with_history, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@needs("graph_breaks")
@clause("aot_autograd.metadata.input")
def test_caller_sees_the_new_shape(stack, device, program, operators, calls):
    """An input whose shape or strides the program changes in place has them afterwards, on the same memory."""
    run = stack.run(Program.of(program, after=write_all), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize(("program", "operators"), RESIZES)
@needs("graph_breaks")
@clause("aot_autograd.metadata.input")
def test_caller_sees_the_new_size(stack, device, program, operators):
    """An input that the program resizes in place has the new size afterwards."""
    run = stack.run(Program.of(program, after=write_all), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("calls", [pytest.param(plain, id="without_grad"), pytest.param(with_history, id="with_grad")])
@clause("aot_autograd.metadata.data")
def test_caller_sees_the_new_data(stack, device, calls):
    """An input that the program gives other data holds them afterwards."""
    run = stack.run(exchange_data, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    # Since 2.14 data are exchanged by an operator of their own.
    run.forward.operators.expect(
        """\
aten.ones
aten.mul
aten.set_
""",
        until="2.14",
    )
    run.forward.operators.expect(
        """\
aten.ones
aten.mul
aten.shallow_copy_data_
""",
        since="2.14",
    )


@needs("graph_breaks")
@clause("aot_autograd.metadata.requires_grad")
def test_caller_sees_requires_grad(stack, device):
    """An input that the program makes require grad does so afterwards, and gets a gradient."""
    run = stack.run(Program.of(demand_grad), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.dynamo.operators.expect("""mul""")
