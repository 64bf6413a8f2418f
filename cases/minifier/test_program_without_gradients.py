"""A program that was called without gradients is minified without them."""

import pytest
import torch

from conformance import clause, needs

GRAPH_ITSELF = "conformance.minify.faults:graph_itself"


class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, gradient):
        self.weight.add_(torch.relu(gradient))
        return torch.cos(self.weight)


def without_derivative(x):
    return torch.heaviside(torch.relu(x), x)


def with_derivative(x):
    return torch.cos(torch.relu(x))


def leaf(device):
    return [(torch.arange(3.0, device=device, requires_grad=True),)]


@pytest.mark.parametrize("program", [Step, without_derivative, with_derivative])
@needs("minifier", "input_mutation")
@clause("minifier.after_dynamo.without_gradients")
def test_wrong_result_under_no_grad(stack, device, program):
    """A parameter is written, an operator has no derivative: the launcher runs neither backward nor into an error."""
    run = stack.minify(program, leaf, device=device, backend=GRAPH_ITSELF, fault="relu.accuracy", inference=True)

    run.assert_minified()
    run.repro.expect("""\
in0: f32[3]
relu: f32[3] = relu(in0)
return (relu,)
""")
