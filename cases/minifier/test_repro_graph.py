"""Graphs with symbolic sizes, with state and with random numbers are written down, minified and reproduced."""

import torch

from conformance import clause, needs


def sine_in_another_shape(x):
    return torch.sin(x).reshape(x.shape[1], x.shape[0])


def relu_of_noise(x):
    return torch.relu(torch.rand_like(x))


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        self.calls.add_(1)
        return torch.sin(x) + self.calls


def row(device):
    return [(torch.arange(3.0, device=device),)]


def rows(device):
    return [(torch.arange(12.0, device=device).reshape(4, 3),)]


@needs("minifier", "dynamic_shapes")
@clause("minifier.repro.dynamic_shapes")
def test_symbolic_sizes(stack, device):
    """A graph compiled for any size is minified, and its sizes are inputs of the repro."""
    run = stack.minify(sine_in_another_shape, rows, device=device, fault="reshape.compile_error", dynamic=True)

    run.assert_minified()
    run.module.expect("""\
in0: int
in1: int
in2: f32[4, 3]
sin: f32[4, 3] = sin(in2)
reshape: f32[3, 4] = sin.reshape(in1, in0)
return (reshape,)
""")
    run.repro.expect("""\
in0: int
in1: int
in2: f32[4, 3]
reshape: f32[3, 4] = in2.reshape(in0, in1)
return (reshape,)
""")


@needs("minifier", "input_mutation")
@clause("minifier.repro.mutated_buffers")
def test_mutated_buffer(stack, device):
    """A fault in the operator that mutates a buffer is minified to that operator, on the buffer."""
    run = stack.minify(Counted, row, device=device, fault="add_.compile_error")

    run.assert_minified()
    run.inputs.expect("""float32[3] strides [1], total 3""")
    run.repro.expect("""\
in0: f32[3]
add_: f32[3] = in0.add_(1)
return (add_,)
""")


@needs("minifier_after_aot")
@clause("minifier.repro.random_numbers")
def test_random_numbers(stack, device):
    """A graph that draws random numbers is written down with its seeds and minified."""
    run = stack.minify(relu_of_noise, row, device=device, after="aot", fault="relu.compile_error")

    run.assert_minified()
    run.module.expect("""\
in0: f32[3]
inductor_seeds: i64[1] = prims.inductor_seeds(1, device)
inductor_lookup_seed: i64[] = prims.inductor_lookup_seed(inductor_seeds, 0)
inductor_random: f32[3] = prims.inductor_random([3], inductor_lookup_seed, 'rand')
relu: f32[3] = aten.relu(inductor_random)
return (relu,)
""")
