"""Any stack's own backend: a fault in it is minified after Dynamo, and everything else still reaches the backend."""

import pytest
import torch

from conformance import clause, needs


def sine_relu_cosine(x):
    return torch.cos(torch.relu(torch.sin(x)))


def sines_relu_cosines(x):
    for _ in range(10):
        x = torch.sin(x)
    x = torch.relu(x)
    for _ in range(10):
        x = torch.cos(x)
    return x


def matrix(device):
    return [(torch.randn(20, 20, device=device),)]


@pytest.mark.parametrize("kind", ["compile_error", "runtime_error"])
@needs("minifier")
@clause("minifier.own_backend.reproduces")
def test_backend_that_raises(stack, device, kind):
    """A backend that raises on one operator, when compiling or when called, is minified to that operator."""
    run = stack.minify(sines_relu_cosines, matrix, device=device, fault=f"relu.{kind}")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = relu(in0)
return (relu,)
""")


@needs("minifier")
@clause("minifier.own_backend.accuracy")
def test_backend_that_computes_something_else(stack, device):
    """A backend that computes one operator wrongly is minified to that operator."""
    run = stack.minify(sine_relu_cosine, matrix, device=device, fault="relu.accuracy")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = relu(in0)
return (relu,)
""")
