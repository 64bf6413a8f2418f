"""Layout conversion of frozen convolutions: the weight's memory format, and the strides of what comes out."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, needs

FROZEN = {"inductor.freezing": True, "inductor.layout_optimization": True}
NOT_CONVERTED = {"inductor.freezing": True, "inductor.layout_optimization": False}


class Convolve(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 128, 3, padding=1, bias=False)
        self.eval()

    def forward(self, x):
        return self.conv(x)


class AddThenConvolve(Convolve):
    def forward(self, x):
        y = x + 1
        return self.conv(x), y


def on_device(device, module_class, dtype=torch.float32):
    return module_class().to(device, dtype)


def images(device, memory_format=torch.contiguous_format, dtype=torch.float32):
    image = torch.linspace(-1, 1, 2 * 3 * 5 * 5, dtype=dtype).view(2, 3, 5, 5)
    return [(image.to(device).contiguous(memory_format=memory_format),)]


def frozen(module_class, dtype):
    make = partial(on_device, module_class=module_class, dtype=dtype)
    return Program(make=make, inference=True, config=FROZEN), partial(images, dtype=dtype)


CONVOLVE, CONVOLVE_64 = frozen(Convolve, torch.float32), frozen(Convolve, torch.float64)
ADD_THEN_CONVOLVE = Program(make=partial(on_device, module_class=AddThenConvolve), inference=True)


@needs("freezing", "lowered_graph", "layout_optimization")
@clause("layout.weights.channels_last")
def test_frozen_weight_is_channels_last(stack, device):
    """The weight of a frozen convolution is a channels_last constant of the lowered graph."""
    run = stack.run(*CONVOLVE)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    run.forward.expect("""\
in0: f32[128, 3, 3, 3]
in1: f32[2, 3, 5, 5]
convolution: f32[2, 128, 5, 5] = aten.convolution(in1, in0, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
return (convolution,)
""")
    run.lowered.expect(
        """\
in0: f32[2, 3, 5, 5]
const0: f32[128, 3, 3, 3] _mkldnn
_convolution_pointwise: f32[2, 128, 5, 5](3200, 1, 640, 128) = mkldnn._convolution_pointwise(in0, const0, None, [1, 1], [1, 1], [1, 1], 1, 'none', [], '')
inductor_force_stride_order: f32[2, 128, 5, 5] = prims.inductor_force_stride_order(_convolution_pointwise, (3200, 25, 5, 1))
return (inductor_force_stride_order,)
""",
        device="cpu",
    )


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last], ids=str)
@clause("layout.outputs.eager_strides")
def test_outputs_keep_eager_strides(stack, device, memory_format):
    """The output of a convolution and an output that no conversion touches both have eager's strides."""
    run = stack.run(ADD_THEN_CONVOLVE, partial(images, memory_format=memory_format))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph", "layout_optimization")
@clause("layout.outputs.eager_strides")
def test_converted_layout_is_converted_back(stack, device):
    """With the layout converted inside, the frozen program still returns two contiguous outputs."""
    run = stack.run(ADD_THEN_CONVOLVE, images, config=FROZEN)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    run.forward.expect("""\
in0: f32[2, 3, 5, 5]
in1: f32[128, 3, 3, 3]
add: f32[2, 3, 5, 5] = aten.add(in0, 1)
convolution: f32[2, 128, 5, 5] = aten.convolution(in0, in1, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
return (convolution, add)
""")
    run.lowered.expect(
        """\
in0: f32[2, 3, 5, 5]
const0: f32[128, 3, 3, 3] _mkldnn
_convolution_pointwise: f32[2, 128, 5, 5](3200, 1, 640, 128) = mkldnn._convolution_pointwise(in0, const0, None, [1, 1], [1, 1], [1, 1], 1, 'none', [], '')
inductor_force_stride_order: f32[2, 128, 5, 5] = prims.inductor_force_stride_order(_convolution_pointwise, (3200, 25, 5, 1))
add: f32[2, 3, 5, 5] = aten.add(in0, 1)
inductor_force_stride_order_1: f32[2, 3, 5, 5] = prims.inductor_force_stride_order(add, (75, 25, 5, 1))
return (inductor_force_stride_order, inductor_force_stride_order_1)
""",
        device="cpu",
    )


@needs("freezing")
@clause("layout.weights.every_dtype")
def test_double_precision(stack, device):
    """A frozen convolution in double precision compiles too, although the CPU's packed kernels have none."""
    run = stack.run(*CONVOLVE_64)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@clause("layout.weights.every_dtype")
def test_half_precision(stack, device, dtype):
    """A frozen convolution in half precision compiles, and has eager's strides."""
    run = stack.run(*frozen(Convolve, dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "layout_optimization")
@clause("layout.outputs.unconverted")
def test_layout_optimization_off_keeps_strides(stack, device):
    """With layout optimization off a frozen program returns two contiguous outputs."""
    run = stack.run(ADD_THEN_CONVOLVE, images, config=NOT_CONVERTED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "layout_optimization")
@clause("layout.outputs.unconverted")
def test_layout_optimization_off_keeps_channels_last(stack, device):
    """With layout optimization off a frozen program returns channels_last outputs for a channels_last image."""
    calls = partial(images, memory_format=torch.channels_last)
    run = stack.run(ADD_THEN_CONVOLVE, calls, config=NOT_CONVERTED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
