"""Frozen programs keep the dtype that eager computes in, and cast nothing that was cast before."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, needs

half_types = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)


class ConvolutionTimesTwo(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, bias=False)

    def forward(self, x):
        return self.conv(x) * torch.full([1], 2.0, device=x.device)


class AutocastLinear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(10, 10)

    def forward(self, x):
        with torch.autocast(x.device.type, x.dtype):
            return self.linear(x)


def on_device(device, module_class, dtype=torch.float32):
    return module_class().eval().to(device, dtype)


def image(device, dtype):
    return [(torch.randn(2, 3, 6, 6).to(device, dtype),)]


def rows(device, dtype):
    return [(torch.randn(10, 10).to(device, dtype),)]


@half_types
@clause("freezing.folding.dtype")
def test_convolution_times_a_wider_constant(stack, device, dtype):
    """A half precision convolution times a float32 constant is promoted as in eager, folded or not."""
    program = Program(make=partial(on_device, module_class=ConvolutionTimesTwo, dtype=dtype), inference=True)
    run = stack.run(program, partial(image, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@pytest.mark.parametrize(("dtype", "name"), [(torch.bfloat16, "bf16"), (torch.float16, "f16")], ids=["bf16", "f16"])
@clause("freezing.folding.dtype")
def test_product_with_a_wider_constant_stays_wide(stack, device, dtype, name):
    """The frozen graph holds one convolution in half precision, and multiplies it in single precision."""
    program = Program(make=partial(on_device, module_class=ConvolutionTimesTwo, dtype=dtype), inference=True)
    run = stack.run(program, partial(image, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    assert run.lowered.count("mul") == 1
    assert "mul: f32[2, 8, 4, 4]" in run.lowered.text
    assert f"{name}[2, 8, 4, 4]" in run.lowered.text
    assert f"const0: {name}[8, 3, 3, 3]" in run.lowered.text
    assert "const1" not in run.lowered.text


@half_types
@clause("freezing.autocast.result")
def test_linear_under_autocast(stack, device, dtype):
    """A linear under autocast has eager's dtype and result."""
    program = Program(make=partial(on_device, module_class=AutocastLinear), inference=True)
    run = stack.run(program, partial(rows, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@half_types
@clause("freezing.autocast.only_the_product")
def test_nothing_is_cast_at_run_time(stack, device, dtype):
    """The casts of the frozen weight and bias are done once, so that nothing but the product runs."""
    program = Program(make=partial(on_device, module_class=AutocastLinear), inference=True)
    run = stack.run(program, partial(rows, dtype=dtype))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert len(run.lowered[0].ops) == 1
    assert run.lowered.absent("convert_element_type")
