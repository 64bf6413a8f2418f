"""After AOTAutograd: a fault in inductor's code generation is minified to the operator whose code is wrong."""

import torch

from conformance import clause, needs


def relu_cos(x):
    x = torch.relu(x)
    return torch.cos(x)


def constant_plus_relu(x):
    return torch.tensor(2) + torch.relu(x)


def sines_cosine_relu(x):
    x = torch.sin(x)
    x = torch.sin(x)
    x = torch.cos(x)
    return torch.relu(x)


def matrix(device):
    return [(torch.randn(20, 20, device=device),)]


@needs("minifier_after_aot")
@clause("minifier.after_aot.reproduces")
def test_code_that_does_not_compile(stack, device):
    """The operator whose generated code does not compile is alone in the repro."""
    run = stack.minify(relu_cos, matrix, device=device, after="aot", fault="relu.compile_error")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = aten.relu(in0)
return (relu,)
""")


@needs("minifier_after_aot")
@clause("minifier.after_aot.isolated_queries")
def test_code_that_computes_something_else(stack, device):
    """The operator whose generated code is wrong is found by queries that have a process each, the default."""
    run = stack.minify(relu_cos, matrix, device=device, after="aot", fault="relu.accuracy", isolate=True)

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = aten.relu(in0)
return (relu,)
""")


@needs("minifier_after_aot")
@clause("minifier.after_aot.constants")
def test_constant_in_the_graph(stack, device):
    """A graph with a constant tensor is minified and reproduced."""
    run = stack.minify(constant_plus_relu, matrix, device=device, after="aot", fault="relu.compile_error")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = aten.relu(in0)
return (relu,)
""")


@needs("minifier_after_aot")
@clause("minifier.after_aot.offload_to_disk")
def test_intermediates_on_disk(stack, device):
    """With intermediates offloaded to disk the minifier finds the same operator."""
    run = stack.minify(
        sines_cosine_relu,
        matrix,
        device=device,
        after="aot",
        fault="relu.compile_error",
        launcher=["--offload-to-disk"],
    )

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = aten.relu(in0)
return (relu,)
""")
