"""Right outputs are not everything that is compared: writes to inputs, and gradients."""

import pytest
import torch

from conformance import clause, needs

GRAPH_ITSELF = "conformance.minify.faults:graph_itself"


def read_again(x):
    x.add_(1)
    return torch.sin(x) * 2


def read_once(x):
    return torch.sin(x.add_(1)) * 2


def sine_cosine_exponential(x):
    return torch.exp(torch.cos(torch.sin(x)))


class Line(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        [x] = ctx.saved_tensors
        return torch.cos(gradient + torch.log1p(x))


def cosine_of_line(x):
    return torch.cos(Line.apply(x))


def row(device):
    return [(torch.arange(3.0, device=device),)]


def leaf(device):
    return [(torch.arange(3.0, device=device, requires_grad=True),)]


@pytest.mark.parametrize("program", [read_again, read_once])
@needs("minifier", "input_mutation")
@clause("minifier.accuracy.lost_writes")
def test_input_that_is_not_written(stack, device, program):
    """A backend that leaves its input as it was is reported, be its outputs wrong for it or right."""
    run = stack.minify(program, row, device=device, backend=GRAPH_ITSELF, fault="add_.lost_write")

    run.assert_minified()
    run.outcome.expect("""\
program: failed with AccuracyError
launcher: passed
repro: failed with AccuracyError
""")


@needs("minifier", "training")
@clause("minifier.accuracy.wrong_gradients")
def test_wrong_gradient_after_dynamo(stack, device):
    """A backend that returns right outputs with wrong gradients is minified to the operator at fault."""
    run = stack.minify(sine_cosine_exponential, leaf, device=device, backend=GRAPH_ITSELF, fault="cos.wrong_gradient")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[3]
cos: f32[3] = cos(in0)
return (cos,)
""")


@needs("minifier_after_aot", "training")
@clause("minifier.accuracy.wrong_gradients")
def test_wrong_gradient_after_aot(stack, device):
    """Wrong code of a backward graph is minified to the operator that it was generated for."""
    run = stack.minify(cosine_of_line, leaf, device=device, after="aot", fault="log1p.accuracy", backward=True)

    run.assert_minified()
    run.repro.expect("""\
in0: f32[3]
log1p: f32[3] = aten.log1p(in0)
return (log1p,)
""")
