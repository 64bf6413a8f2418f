"""Views of a convolution's result see the strides that they were written for."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, needs

FROZEN = {"inductor.freezing": True, "inductor.layout_optimization": True}


class Halo(torch.nn.Module):
    """Overlapping windows of a padded convolution, taken by two `as_strided`s."""

    def __init__(self, groups):
        super().__init__()
        self.conv = torch.nn.Conv2d(256, 384, 1, bias=False, groups=groups)
        self.eval()

    def forward(self, x):
        padded = torch.nn.functional.pad(self.conv(x), (2, 2, 2, 2))
        rows = padded.as_strided((8, 384, 2, 20, 12), (153600, 400, 160, 1, 20))
        windows = rows.as_strided((8, 384, 2, 2, 12, 12), (153600, 400, 160, 8, 20, 1))
        return windows.clone(memory_format=torch.contiguous_format)


class FlattenedConvolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.conv = torch.nn.BatchNorm2d(3), torch.nn.Conv2d(3, 128, 3, padding=1)
        self.eval()

    def forward(self, x):
        return torch.flatten(self.conv(self.norm(x)), 1)


def halo(device, groups):
    return Halo(groups).to(device)


def deep_image(device):
    return [(torch.randn(8, 256, 16, 16).to(device),)]


def image(device):
    return [(torch.randn(2, 3, 5, 5).to(device),)]


@pytest.mark.parametrize("groups", [1, 2])
@clause("layout.views.as_strided")
def test_as_strided_after_convolution(stack, device, groups):
    """The windows that `as_strided` takes of a convolution's result hold what they hold in eager."""
    run = stack.run(Program(make=partial(halo, groups=groups), inference=True, config=FROZEN), deep_image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@clause("layout.views.flatten")
def test_flatten_after_convolution(stack, device):
    """The flattened result of a frozen convolution has eager's order and strides."""
    run = stack.run(Program.of(FlattenedConvolution, inference=True, config=FROZEN), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph", "layout_optimization")
@clause("layout.views.as_strided")
def test_strides_are_restored_before_as_strided(stack, device):
    """Of one convolution, laid out anew or not, both windows are taken by the strides that they were written for."""
    run = stack.run(Program(make=partial(halo, groups=2), inference=True, config=FROZEN), deep_image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    assert run.lowered.count("as_strided") == 2
    assert "[153600, 400, 160, 8, 20, 1]" in run.lowered.text
    run.lowered.expect(
        """\
in0: f32[8, 256, 16, 16]
const0: f32[384, 128, 1, 1] _mkldnn
_convolution_pointwise: f32[8, 384, 16, 16](98304, 1, 6144, 384) = mkldnn._convolution_pointwise(in0, const0, None, [0, 0], [1, 1], [1, 1], 2, 'none', [], '')
constant_pad_nd: f32[8, 384, 20, 20](153600, 1, 7680, 384) = aten.constant_pad_nd(_convolution_pointwise, [2, 2, 2, 2], 0.0)
inductor_force_stride_order: f32[8, 384, 20, 20] = prims.inductor_force_stride_order(constant_pad_nd, (153600, 400, 20, 1))
as_strided: f32[8, 384, 2, 20, 12](153600, 400, 160, 1, 20) = aten.as_strided(inductor_force_stride_order, [8, 384, 2, 20, 12], [153600, 400, 160, 1, 20])
inductor_force_stride_order_1: f32[8, 384, 2, 20, 12](153600, 400, 160, 1, 20) = prims.inductor_force_stride_order(as_strided, (153600, 400, 160, 1, 20))
as_strided_1: f32[8, 384, 2, 2, 12, 12](153600, 400, 160, 8, 20, 1) = aten.as_strided(inductor_force_stride_order_1, [8, 384, 2, 2, 12, 12], [153600, 400, 160, 8, 20, 1])
clone: f32[8, 384, 2, 2, 12, 12] = aten.clone(as_strided_1, memory_format=contiguous_format)
inductor_force_stride_order_2: f32[8, 384, 2, 2, 12, 12] = prims.inductor_force_stride_order(clone, (221184, 576, 288, 144, 12, 1))
return (inductor_force_stride_order_2,)
""",
        device="cpu",
    )


@needs("freezing", "lowered_graph", "layout_optimization")
@clause("layout.views.flatten")
def test_strides_are_restored_before_flatten(stack, device):
    """The frozen graph holds one convolution of the normalized image, and flattens it in eager's order."""
    run = stack.run(Program.of(FlattenedConvolution, inference=True, config=FROZEN), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    assert run.lowered.absent("batch_norm")
    run.lowered.expect(
        """\
const0: f32[128]
in0: f32[2, 3, 5, 5]
const1: f32[3, 1, 1]
const2: f32[3, 1, 1]
const3: f32[3, 1, 1]
const4: f32[3, 1, 1]
const5: f32[128, 3, 3, 3] _mkldnn
sub: f32[2, 3, 5, 5] = aten.sub(in0, const1)
mul: f32[2, 3, 5, 5] = aten.mul(sub, const2)
mul_1: f32[2, 3, 5, 5] = aten.mul(mul, const3)
add: f32[2, 3, 5, 5] = aten.add(mul_1, const4)
_convolution_pointwise: f32[2, 128, 5, 5](3200, 1, 640, 128) = mkldnn._convolution_pointwise(add, const5, const0, [1, 1], [1, 1], [1, 1], 1, 'none', [], '')
reshape: f32[2, 3200] = aten.reshape(_convolution_pointwise, [2, 3200])
inductor_force_stride_order: f32[2, 3200] = prims.inductor_force_stride_order(reshape, (3200, 1))
return (inductor_force_stride_order,)
""",
        device="cpu",
    )
