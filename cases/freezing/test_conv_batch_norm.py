"""A convolution and the batch norm after it become one convolution by a constant weight."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, needs

UNCHANGED_LAYOUT = {"inductor.layout_optimization": False}
STRIDES_APART = {"outputs[0].stride": "its own clause, layout.outputs.unconverted: these cases are about the folding"}


class ConvBatchNorm(torch.nn.Module):
    """Statistics that show mistakes: tiny variances, an eps of their size, large means, negative weights."""

    def __init__(self, bias, dtype):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 32, bias=bias, kernel_size=3, stride=2)
        self.norm = torch.nn.BatchNorm2d(32, eps=0.001, dtype=torch.float32)
        channels = torch.arange(32.0)
        with torch.no_grad():
            self.norm.running_mean.copy_((channels % 5 - 2) * 0.75)
            self.norm.running_var.copy_((channels % 4 + 0.5) * 0.001)
            self.norm.weight.copy_((channels % 3 - 1) * 0.5 - 0.25)
            self.norm.bias.copy_(channels % 7 - 3)
        self.to(dtype).eval()

    def forward(self, x):
        return self.norm(self.conv(x))


def conv_batch_norm(device, bias, dtype):
    return ConvBatchNorm(bias, dtype).to(device)


def images(device, dtype):
    return [(torch.randn(3, 3, 32, 32, dtype=dtype).to(device),)]


def frozen(stack, bias, dtype, config=None):
    program = Program(make=partial(conv_batch_norm, bias=bias, dtype=dtype), inference=True, config=config or {})
    return stack.run(program, partial(images, dtype=dtype))


every_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no_bias"])
every_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)


@every_dtype
@every_bias
@clause("freezing.conv_bn.result")
def test_result(stack, device, bias, dtype):
    """The result is as near to the exact one as eager's own, also where variances are smaller than eps."""
    run = frozen(stack, bias, dtype)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@every_dtype
@every_bias
@clause("freezing.conv_bn.folded")
def test_folded(stack, device, bias, dtype):
    """No batch norm, and nothing that it is made of, is left beside the one convolution."""
    run = frozen(stack, bias, dtype, UNCHANGED_LAYOUT)

    run.assert_matches_eager(allowing=STRIDES_APART)
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    assert run.lowered.absent("batch_norm")
    assert run.lowered.absent("sqrt")
    assert run.lowered.absent("mul")


@needs("freezing", "lowered_graph")
@clause("freezing.conv_bn.one_constant")
def test_constants_that_remain(stack, device):
    """The folded graph holds one weight and one bias, and the module's seven tensors are gone."""
    run = frozen(stack, True, torch.float32, UNCHANGED_LAYOUT)

    run.assert_matches_eager(allowing=STRIDES_APART)
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.absent("batch_norm")
    run.lowered.expect(
        """\
in0: f32[3, 3, 32, 32]
const0: f32[32]
const1: f32[32, 3, 3, 3] _mkldnn
_convolution_pointwise: f32[3, 32, 15, 15](7200, 1, 480, 32) = mkldnn._convolution_pointwise(in0, const1, const0, [0, 0], [2, 2], [1, 1], 1, 'none', [], '')
return (_convolution_pointwise,)
""",
        device="cpu",
    )
