"""What decides about layout, sizes and options, changes neither results nor strides that a caller can see."""

import pytest
import torch
from torch import nn

from conformance import clause, needs

FROZEN = {"inductor.freezing": True, "inductor.layout_optimization": True}
#: A float of a module is no size: symbolic, it makes AOTAutograd start anew, and the backend sees the graph twice.
ONLY_SIZES = {"dynamo.specialize_float": True}
OPTIONS = {
    "padding": {"inductor.comprehensive_padding": True},
    "no_padding": {"inductor.comprehensive_padding": False},
    "forced": {"inductor.force_layout_optimization": True},
    "forced_and_frozen": {"inductor.force_layout_optimization": True, "inductor.freezing": True},
    "strides_kept": {"inductor.keep_output_stride": True, "inductor.force_layout_optimization": True},
}
STRIDES_LEFT_OPEN = {
    "outputs[0].stride": "keep_output_stride off says that strides may change",
    "outputs[1].stride": "keep_output_stride off says that strides may change",
}


class Flattened(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(3), nn.Conv2d(3, 16, 3, padding=1)
        self.eval()

    def forward(self, x):
        return torch.flatten(self.conv(self.norm(x)), 1)


class TwoOutputs(Flattened):
    def forward(self, x):
        y = x + 1
        return self.conv(x), y


class Windows(Flattened):
    """Overlapping windows by `as_strided`, of a result whose strides it takes for granted."""

    def forward(self, x):
        padded = nn.functional.pad(self.conv(x), (1, 1, 1, 1))
        return padded.as_strided((2, 16, 2, 4, 9), (1584, 99, 27, 9, 1)).clone()


class Transposed(Flattened):
    def forward(self, x):
        y = self.conv(x)
        return y.mT + 1, (y @ y.mT).mT


PROGRAMS = [Flattened, TwoOutputs, Windows, Transposed]
every_program = pytest.mark.parametrize("program", PROGRAMS)


def image(device):
    return [(torch.randn(2, 3, 9, 7).to(device),)]


def two_sizes(device):
    """The larger first, so that what is kept of it would fit the second."""
    return [(torch.randn(2, 3, 9, 7).to(device),), (torch.randn(2, 3, 5, 6).to(device),)]


@needs("dynamic_shapes")
@pytest.mark.parametrize("program", [Flattened, TwoOutputs])
@clause("layout.dynamic_shapes.one_compile")
def test_second_size(stack, device, program):
    """A second spatial size has eager's strides and order, without a second compile."""
    run = stack.run(program, two_sizes, inference=True, dynamic=True, config=ONLY_SIZES)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")


@needs("dynamic_shapes", "layout_optimization", "freezing")
@pytest.mark.parametrize("program", [Flattened, TwoOutputs])
@clause("layout.dynamic_shapes.one_compile")
def test_second_size_of_a_frozen_program(stack, device, program):
    """Converting the layout of a frozen program holds for a second spatial size too."""
    run = stack.run(program, two_sizes, inference=True, dynamic=True, config={**FROZEN, **ONLY_SIZES})

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")


@needs("layout_optimization", "freezing")
@pytest.mark.parametrize("options", OPTIONS)
@every_program
@clause("layout.options.eager_strides")
def test_options(stack, device, program, options):
    """Padding and forced layout optimization change neither results nor strides of outputs."""
    run = stack.run(program, image, inference=True, config=OPTIONS[options])

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.graph_breaks.expect("""(no graph break)""")


@needs("layout_optimization", "freezing", "lowered_graph")
@every_program
@clause("layout.options.strides_not_kept")
def test_strides_that_need_not_be_kept(stack, device, program):
    """With keep_output_stride off outputs have eager's values, and the graph forces no order of strides."""
    config = {"inductor.keep_output_stride": False, "inductor.force_layout_optimization": True}
    run = stack.run(program, image, inference=True, config=config)

    run.assert_matches_eager(allowing=STRIDES_LEFT_OPEN)
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    run.graph_breaks.expect("""(no graph break)""")
