"""What decides about layout, sizes and options, changes neither results nor strides that a caller can see."""

import pytest
import torch
from torch import nn

from conformance import clause, expected, needs

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


class Convolved(Flattened):
    def forward(self, x):
        return torch.flatten(self.conv(x), 1)


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


every_program = pytest.mark.parametrize("program", [Flattened, TwoOutputs, Windows, Transposed])
of_symbolic_size = pytest.mark.parametrize(
    ("program", "text"),
    [
        pytest.param(
            Convolved,
            expected("""\
in0: f32[16, 3, 3, 3]
in1: f32[16]
in2: s0
in3: s1
in4: s2
in5: f32[s0, 3, s1, s2]
convolution: f32[s0, 16, s1, s2] = aten.convolution(in5, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
mul: 16*s1 = mul(16, in3)
mul_1: 16*s1*s2 = mul(mul, in4)
view: f32[s0, 16*s1*s2] = aten.view(convolution, [in2, mul_1])
return (view,)
"""),
            id="Convolved",
        ),
        pytest.param(
            TwoOutputs,
            expected("""\
in0: s0
in1: s1
in2: s2
in3: f32[s0, 3, s1, s2]
in4: f32[16, 3, 3, 3]
in5: f32[16]
add: f32[s0, 3, s1, s2] = aten.add(in3, 1)
convolution: f32[s0, 16, s1, s2] = aten.convolution(in3, in4, in5, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
return (convolution, add)
"""),
            id="TwoOutputs",
        ),
    ],
)


def image(device):
    return [(torch.randn(2, 3, 9, 7).to(device),)]


def two_sizes(device):
    """The larger first, so that what is kept of it would fit the second."""
    return [(torch.randn(2, 3, 9, 7).to(device),), (torch.randn(2, 3, 5, 6).to(device),)]


@needs("dynamic_shapes")
@of_symbolic_size
@clause("layout.dynamic_shapes.one_compile")
def test_second_size(stack, device, program, text):
    """A second spatial size has eager's strides and order, without a second compile."""
    run = stack.run(program, two_sizes, inference=True, dynamic=True, config=ONLY_SIZES)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(text)


@needs("dynamic_shapes", "layout_optimization", "freezing")
@of_symbolic_size
@clause("layout.dynamic_shapes.one_compile")
def test_second_size_of_a_frozen_program(stack, device, program, text):
    """Converting the layout of a frozen program holds for a second spatial size too."""
    run = stack.run(program, two_sizes, inference=True, dynamic=True, config={**FROZEN, **ONLY_SIZES})

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(text)


@needs("dynamic_shapes", "layout_optimization", "freezing", "lowered_graph")
@clause("layout.dynamic_shapes.one_compile")
def test_second_size_of_a_folded_program(stack, device):
    """Batch norm folded into a convolution of converted layout holds for a second spatial size too."""
    run = stack.run(Flattened, two_sizes, inference=True, dynamic=True, config={**FROZEN, **ONLY_SIZES})

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.absent("batch_norm")
    assert run.lowered.count("convolution") == 1


@needs("layout_optimization", "freezing")
@pytest.mark.parametrize("options", OPTIONS)
@every_program
@clause("layout.options.eager_strides")
def test_options(stack, device, program, options):
    """Padding and forced layout optimization change neither results nor strides of outputs."""
    run = stack.run(program, image, inference=True, config=OPTIONS[options])

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


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
