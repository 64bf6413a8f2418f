"""A backend that fails on every graph: the repro still calls it."""

import torch

from conformance import clause, needs


def sine_cosine(x):
    return torch.cos(torch.sin(x))


def row(device):
    return [(torch.arange(3.0, device=device),)]


@needs("minifier")
@clause("minifier.after_dynamo.never_empty")
def test_backend_that_fails_on_every_graph(stack, device):
    """Not so much is taken away that Dynamo has nothing left to give to the backend."""
    run = stack.minify(sine_cosine, row, device=device, fault="any.compile_error")

    run.assert_minified()
    run.outcome.expect("""\
program: failed with InjectedCompileError
launcher: passed
repro: failed with InjectedCompileError
""")
