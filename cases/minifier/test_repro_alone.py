"""The repro stands alone: run elsewhere, as somebody else, without the program, it has inputs like the program's."""

import torch

from conformance import clause, needs


def block_diagonal(*blocks):
    return torch.block_diag(*blocks).sin()


def sine_of_relu(x):
    return torch.sin(torch.relu(x))


def sine_in_another_shape(x):
    return torch.sin(x).reshape(x.shape[1], x.shape[0])


def relu_with_noise(x):
    return torch.relu(x) + torch.rand_like(x)


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        self.calls.add_(1)
        return torch.sin(x) + self.calls


def odd_strides(device):
    matrix = torch.arange(12.0, device=device).reshape(3, 4)
    return [(matrix.t(), torch.arange(4.0, device=device).expand(3, 4), torch.arange(20.0, device=device)[2:10:2])]


def channels_last(device):
    return [(torch.arange(24.0, device=device).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last),)]


def many_dtypes(device):
    dtypes = [torch.bfloat16, torch.half, torch.float64, torch.int64, torch.uint8]
    return [tuple(torch.arange(4, device=device).to(dtype) for dtype in dtypes)]


def leaf_and_result(device):
    leaf = torch.arange(4.0, device=device, requires_grad=True)
    return [(leaf, leaf * 2, torch.ones(4, device=device))]


def two_halves(device):
    whole = torch.arange(8.0, device=device)
    return [(whole[:4], whole[4:])]


def two_equal_rows(device):
    return [(torch.arange(4.0, device=device), torch.arange(4.0, device=device))]


def row(device):
    return [(torch.arange(3.0, device=device),)]


def rows(device):
    return [(torch.arange(12.0, device=device).reshape(4, 3),)]


@needs("minifier")
@clause("minifier.repro.inputs")
def test_strides_and_offsets(stack, device):
    """Transposed, expanded and sliced inputs keep values, strides and offsets."""
    run = stack.minify(block_diagonal, odd_strides, device=device, fault="block_diag.compile_error")

    run.assert_minified()
    run.inputs.expect("""\
float32[4, 3] strides [1, 4], total 66
float32[3, 4] strides [0, 1], total 18
float32[4] strides [2], offset 2, total 20
""")


@needs("minifier")
@clause("minifier.repro.inputs")
def test_memory_format(stack, device):
    """An input in channels_last keeps its strides."""
    run = stack.minify(sine_of_relu, channels_last, device=device, fault="relu.runtime_error")

    run.assert_minified()
    run.inputs.expect("""float32[1, 2, 3, 4] strides [24, 1, 8, 2], total 276""")


@needs("minifier")
@clause("minifier.repro.inputs")
def test_dtypes(stack, device):
    """Inputs of narrow, wide and integer dtypes keep dtype and values."""
    run = stack.minify(block_diagonal, many_dtypes, device=device, fault="block_diag.compile_error")

    run.assert_minified()
    run.inputs.expect("""\
bfloat16[4] strides [1], total 6
float16[4] strides [1], total 6
float64[4] strides [1], total 6
int64[4] strides [1], total 6
uint8[4] strides [1], total 6
""")


@needs("minifier")
@clause("minifier.repro.inputs")
def test_autograd_flags(stack, device):
    """A leaf, a result of it, and an input without grad are told apart in the repro."""
    run = stack.minify(block_diagonal, leaf_and_result, device=device, fault="block_diag.compile_error")

    run.assert_minified()
    run.inputs.expect("""\
float32[4] strides [1], requires grad, total 6
float32[4] strides [1], requires grad, not a leaf, total 12
float32[4] strides [1], total 4
""")


@needs("minifier")
@clause("minifier.repro.shared_storage")
def test_shared_storage(stack, device):
    """Two views of one buffer are views of one buffer in the repro."""
    run = stack.minify(block_diagonal, two_halves, device=device, fault="block_diag.compile_error")

    run.assert_minified()
    run.inputs.expect("""\
float32[4] strides [1], total 6
float32[4] strides [1], offset 4, total 22, in the storage of 0
""")


@needs("minifier")
@clause("minifier.repro.separate_storage")
def test_equal_values_in_separate_storage(stack, device):
    """Two tensors that only look alike stay two tensors in the repro."""
    run = stack.minify(block_diagonal, two_equal_rows, device=device, fault="block_diag.compile_error")

    run.assert_minified()
    run.inputs.expect("""\
float32[4] strides [1], total 6
float32[4] strides [1], total 6
""")


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
    run = stack.minify(relu_with_noise, row, device=device, after="aot", fault="relu.compile_error")

    run.assert_minified()
    run.module.expect("""\
in0: f32[3]
relu: f32[3] = aten.relu(in0)
device = device(type=device)
inductor_seeds: i64[1] = prims.inductor_seeds(1, device)
inductor_lookup_seed: i64[] = prims.inductor_lookup_seed(inductor_seeds, 0)
inductor_random: f32[3] = prims.inductor_random([3], inductor_lookup_seed, 'rand')
add: f32[3] = aten.add(relu, inductor_random)
return (add,)
""")
