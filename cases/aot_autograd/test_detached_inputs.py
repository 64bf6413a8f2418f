"""Inputs that the program detaches in place: the caller's tensor has no history afterwards."""

import pytest
import torch

from conformance import Program, clause, expected, needs


def detach(x):
    x.detach_()
    return x * 2


def detach_and_a_view(x):
    x.detach_()
    return x.t(), x * 2


def detach_then_demand_grad(x):
    """The input begins anew, as a leaf."""
    x.detach_()
    x.requires_grad_()
    return x * 3


def leaf(device):
    return [(torch.ones(2, 3, device=device, requires_grad=True),)]


def with_history(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3).requires_grad_().clone(),)]


def write_and_multiply(arguments, outputs):
    """Without history an input may be written to, and what is computed of it has no history."""
    (x,) = arguments
    x.add_(1)
    return x.is_leaf, x.grad_fn is None, (x * 2).requires_grad


@pytest.mark.parametrize("calls", [pytest.param(leaf, id="leaf"), pytest.param(with_history, id="with_history")])
@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(detach, expected("""mul"""), id="detach"),
        pytest.param(detach_and_a_view, expected("""t; mul"""), id="detach_and_a_view"),
    ],
)
@needs("graph_breaks")
@clause("aot_autograd.metadata.requires_grad")
def test_caller_sees_the_detached_input(stack, device, program, operators, calls):
    """An input that the program detaches in place has no history afterwards, and requires no grad."""
    run = stack.run(Program.of(program, after=write_and_multiply), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize("calls", [pytest.param(leaf, id="leaf"), pytest.param(with_history, id="with_history")])
@needs("graph_breaks")
@clause("aot_autograd.metadata.requires_grad")
def test_caller_sees_the_new_leaf(stack, device, calls):
    """An input that the program detaches and makes require grad is a leaf afterwards, which gets the gradient."""
    run = stack.run(detach_then_demand_grad, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=2)
    run.dynamo.operators.expect("""mul""")
