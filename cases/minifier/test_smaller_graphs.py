"""What is cut away on the way to the repro: it stays runnable, keeps to the first fault, and every step of it fails."""

import pytest
import torch

from conformance import clause, needs

GRAPH_ITSELF = "conformance.minify.faults:graph_itself"


def parts_of_polar(x):
    return torch.view_as_real(torch.polar(torch.sin(x), x))


def sine_relu_cosine_sine(x):
    return torch.sin(torch.cos(torch.relu(torch.sin(x))))


def relu_of_sum(x, y):
    return torch.relu(x + y)


def row(device):
    return [(torch.arange(3.0, device=device),)]


def leaf(device):
    return [(torch.arange(3.0, device=device, requires_grad=True),)]


def overlapping(device):
    whole = torch.arange(6.0, device=device)
    return [(whole[:4], whole[2:])]


@pytest.mark.parametrize("calls", [row, leaf])
@needs("minifier")
@clause("minifier.after_dynamo.complex_results")
def test_view_of_complex_result_is_cut_away(stack, device, calls):
    """The complex result of what is left is one that can be run, forward and backward."""
    run = stack.minify(parts_of_polar, calls, device=device, backend=GRAPH_ITSELF, fault="polar.compile_error")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[3]
in1: f32[3]
polar: c64[3] = polar(in1, in0)
return (polar,)
""")


@pytest.mark.parametrize("kind", ["accuracy", "compile_error"])
@needs("minifier")
@clause("minifier.after_dynamo.first_fault")
def test_second_fault_of_smaller_graphs(stack, device, kind):
    """Graphs from which cos is cut away fail in another way, and are not what is looked for."""
    faults = [f"relu.{kind}", "cos.missing_error"]
    run = stack.minify(sine_relu_cosine_sine, row, device=device, backend=GRAPH_ITSELF, fault=faults)

    run.assert_minified()
    run.repro.expect("""\
in0: f32[3]
relu: f32[3] = relu(in0)
cos: f32[3] = cos(relu)
return (cos,)
""")


@pytest.mark.parametrize("kind", ["compile_error", "runtime_error"])
@needs("minifier")
@clause("minifier.after_dynamo.overlapping_inputs")
def test_fault_that_needs_the_overlap(stack, device, kind):
    """Inputs that overlap do so wherever the minifier runs the program, and in the repro."""
    run = stack.minify(relu_of_sum, overlapping, device=device, backend=GRAPH_ITSELF, fault=f"add.overlap_{kind}")

    run.assert_minified()
    run.inputs.expect("""\
float32[4] strides [1], total 6
float32[4] strides [1], offset 2, total 14, in the storage of 0
""")


@pytest.mark.parametrize("kind", ["compile_error", "accuracy"])
@needs("minifier")
@clause("minifier.after_dynamo.checkpoints")
def test_every_checkpoint_fails(stack, device, kind):
    """Each script that the launcher writes on its way fails by itself as the program does."""
    fault = f"relu.{kind}"
    run = stack.minify(sine_relu_cosine_sine, leaf, device=device, backend=GRAPH_ITSELF, fault=fault, checkpoints=True)

    run.assert_checkpoints_fail()
    run.repro.expect("""\
in0: f32[3]
relu: f32[3] = relu(in0)
return (relu,)
""")
