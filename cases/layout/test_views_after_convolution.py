"""Views of a convolution's result see the strides that they were written for."""

from functools import partial

import pytest
import torch

from conformance import Program, clause

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
    run.forward.operators.expect("""\
aten.convolution
aten.constant_pad_nd
aten.as_strided
aten.as_strided
aten.clone
""")


@clause("layout.views.flatten")
def test_flatten_after_convolution(stack, device):
    """The flattened result of a frozen convolution has eager's order and strides."""
    run = stack.run(Program.of(FlattenedConvolution, inference=True, config=FROZEN), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten._native_batch_norm_legit_no_training
aten.convolution
aten.view
""")
