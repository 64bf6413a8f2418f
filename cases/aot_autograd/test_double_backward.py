"""The gradient of a gradient: right, or refused with the error that PyTorch documents."""

import pytest
import torch

from conformance import clause, needs


def gradient_and_its_gradient(x, grad_output):
    y = x.sin().exp()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, grad_outputs=grad_output)
    return gradient, torch.autograd.grad(gradient, x)


def gradient(x, grad_output):
    y = x.sin().exp()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, grad_outputs=grad_output)
    return gradient


def exp_of_sin(x, grad_output):
    return x.sin().exp()


def exp(x):
    return x.exp()


def differentiate(arguments, output):
    x, _ = arguments
    return torch.autograd.grad(output, x)


def differentiate_twice(arguments, output):
    x, grad_output = arguments
    (gradient,) = torch.autograd.grad(output, x, create_graph=True, grad_outputs=grad_output)
    return gradient, torch.autograd.grad(gradient, x)


def differentiate_once(arguments, output):
    x, grad_output = arguments
    return torch.autograd.grad(output, x, grad_outputs=grad_output)


def differentiate_once_with_graph(arguments, output):
    x, grad_output = arguments
    return torch.autograd.grad(output, x, create_graph=True, grad_outputs=grad_output)


def penalize_gradient(arguments, output):
    (gradient,) = torch.autograd.grad(output, arguments, create_graph=True)
    (gradient * gradient + arguments[0]).backward()


def differentiate_gradient_of_output(arguments, output):
    """The second gradient is asked for as one that may be missing, which is no leave to lose it."""
    (gradient,) = torch.autograd.grad(output, arguments, create_graph=True)
    return torch.autograd.grad(gradient, arguments, allow_unused=True)


def scalar(device):
    return [(torch.tensor(1.0, device=device, requires_grad=True),)]


def scalar_and_tensor(device):
    x = torch.tensor(1.0, device=device, requires_grad=True)
    return [(x, torch.tensor(1.0, device=device, requires_grad=True))]


def scalar_and_none(device):
    return [(torch.tensor(1.0, device=device, requires_grad=True), None)]


grad_outputs = pytest.mark.parametrize(
    "calls",
    [pytest.param(scalar_and_tensor, id="tensor"), pytest.param(scalar_and_none, id="none")],
)


@grad_outputs
@needs("training", "graph_breaks")
@clause("aot_autograd.double_backward.right_or_refused")
def test_wholly_inside(stack, device, calls):
    """Both backwards in the compiled program give eager's gradient or the documented error."""
    run = stack.run(gradient_and_its_gradient, calls, backward=False)

    run.limit.expect("""RuntimeError: torch.compile with aot_autograd does not currently support double backward""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=2)
    run.dynamo.expect("""\
in0: f32[]
sin: f32[] = in0.sin()
exp: f32[] = sin.exp()
return (exp,)
""")


@grad_outputs
@needs("training", "graph_breaks")
@clause("aot_autograd.double_backward.right_or_refused")
def test_half_outside(stack, device, calls):
    """The second backward outside the compiled program gives eager's gradient or the documented error."""
    run = stack.run(gradient, calls, backward=False, after=differentiate)

    run.limit.expect("""RuntimeError: torch.compile with aot_autograd does not currently support double backward""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.dynamo.expect("""\
in0: f32[]
sin: f32[] = in0.sin()
exp: f32[] = sin.exp()
return (exp,)
""")


# Before 2.13 Dynamo does not capture a backward whose result is differentiated again.
@pytest.mark.skipif(torch.__version__ < (2, 13), reason="no release before 2.13 captures the first backward")
@grad_outputs
@needs("training")
@clause("aot_autograd.double_backward.right_or_refused")
def test_half_outside_of_a_captured_backward(stack, device, calls):
    """The second backward outside the compiled program is eager's where the first was captured with the program."""
    captured = {"dynamo.trace_autograd_ops": True}
    run = stack.run(gradient, calls, backward=False, after=differentiate, config=captured)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
sin
exp
grad
""")


@grad_outputs
@needs("training")
@clause("aot_autograd.double_backward.right_or_refused")
def test_wholly_outside(stack, device, calls):
    """Both backwards outside the compiled program give eager's gradient or the documented error."""
    run = stack.run(exp_of_sin, calls, backward=False, after=differentiate_twice)

    run.limit.expect("""RuntimeError: torch.compile with aot_autograd does not currently support double backward""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[]
sin: f32[] = in0.sin()
exp: f32[] = sin.exp()
return (exp,)
""")


@needs("training")
@clause("aot_autograd.double_backward.right_or_refused")
def test_gradient_in_a_loss(stack, device):
    """A loss of a gradient that is computed from outputs alone has eager's gradient or the documented error."""
    run = stack.run(exp, scalar, backward=False, after=penalize_gradient)

    run.limit.expect("""RuntimeError: torch.compile with aot_autograd does not currently support double backward""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[]
exp: f32[] = aten.exp(in0)
return (exp, exp)
""")


@needs("training")
@clause("aot_autograd.double_backward.right_or_refused")
def test_second_gradient_that_may_be_unused(stack, device):
    """The gradient of a gradient that is computed from outputs alone is eager's or refused, and never missing."""
    run = stack.run(exp, scalar, backward=False, after=differentiate_gradient_of_output)

    run.limit.expect("""RuntimeError: torch.compile with aot_autograd does not currently support double backward""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[]
exp: f32[] = aten.exp(in0)
return (exp, exp)
""")


@pytest.mark.parametrize("differentiate", [differentiate_once, differentiate_once_with_graph])
@grad_outputs
@needs("training")
@clause("aot_autograd.double_backward.right_or_refused")
def test_single_backward(stack, device, calls, differentiate):
    """One backward is eager's, also where a graph for the next is asked for and not used."""
    run = stack.run(exp_of_sin, calls, backward=False, after=differentiate)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[]
sin: f32[] = aten.sin(in0)
exp: f32[] = aten.exp(sin)
return (exp, in0, exp)
""")
