"""A right backend is never reported, whatever the program draws and writes."""

import pytest
import torch

from conformance import clause, needs

# The checks cannot call what most backends return (see the ledgers); they can call a graph.
GRAPH_ITSELF = "conformance.minify.faults:graph_itself"


def dropped(x):
    return torch.nn.functional.dropout(x, 0.5)


def written(x):
    x.add_(1)
    return x * 2


class Normalized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(x)


def rows(device):
    return [(torch.arange(12.0, device=device).reshape(4, 3),)]


DRAWN_AND_WRITTEN = pytest.mark.parametrize("program", [dropped, written, Normalized])


@DRAWN_AND_WRITTEN
@needs("minifier")
@clause("minifier.accuracy.right_results")
def test_right_results_after_dynamo(stack, device, program):
    """A program that is compared with itself is right, and nothing is written."""
    exactly = {"dynamo.same_two_models_use_fp64": False}
    run = stack.minify(program, rows, device=device, backend=GRAPH_ITSELF, level=4, config=exactly)

    run.assert_no_repro()
    run.outcome.expect("""program: passed""")


@DRAWN_AND_WRITTEN
@needs("minifier_after_aot")
@clause("minifier.accuracy.right_results")
def test_right_results_after_aot(stack, device, program):
    """Code that computes what eager computes is right, and nothing is written."""
    run = stack.minify(program, rows, device=device, after="aot", level=4)

    run.assert_no_repro()
    run.outcome.expect("""program: passed""")


@pytest.mark.parametrize("level", [2, 4])
@needs("minifier")
@clause("minifier.own_backend.silent_without_failure")
def test_right_backend_that_is_run(stack, device, level):
    """The stack's own backend is run by the check of any level, 2 being the default, and does not fail."""
    run = stack.minify(written, rows, device=device, level=level)

    run.assert_no_repro()
    run.outcome.expect("""program: passed""")
