"""A backend that fails on every graph: the repro still calls it."""

import pytest
import torch

from conformance import clause, needs

GRAPH_ITSELF = "conformance.minify.faults:graph_itself"


def sine_cosine(x):
    return torch.cos(torch.sin(x))


def row(device):
    return [(torch.arange(3.0, device=device),)]


@pytest.mark.parametrize("kind", ["compile_error", "accuracy"])
@needs("minifier")
@clause("minifier.after_dynamo.never_empty")
def test_backend_that_fails_on_every_graph(stack, device, kind):
    """Not so much is taken away that Dynamo has nothing left to give to the backend."""
    run = stack.minify(sine_cosine, row, device=device, backend=GRAPH_ITSELF, fault=f"every.{kind}")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[3]
cos: f32[3] = cos(in0)
return (cos,)
""")
