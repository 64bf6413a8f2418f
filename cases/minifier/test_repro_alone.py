"""The repro stands alone: run elsewhere, as somebody else, without the program, it has inputs like the program's."""

import torch

from conformance import clause, needs


def block_diagonal(*blocks):
    return torch.block_diag(*blocks)


def relu(x):
    return torch.relu(x)


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
    run = stack.minify(relu, channels_last, device=device, fault="relu.runtime_error")

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
