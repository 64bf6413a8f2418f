"""Folding where a convolution or a batch norm is used more than once: every use keeps its own result."""

from functools import partial

import pytest
import torch

from conformance import Program, clause, needs


def batch_norm(channels, eps, shift=0):
    norm = torch.nn.BatchNorm2d(channels, eps=eps)
    number = torch.arange(float(channels)) + shift
    with torch.no_grad():
        norm.running_mean.copy_((number % 5 - 2) * 0.75)
        norm.running_var.copy_((number % 4 + 0.5) * eps)
        norm.weight.copy_((number % 3 - 1) * 0.5 - 0.25)
        norm.bias.copy_(number % 7 - 3)
    return norm


class WithAndWithoutNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(1, 1, 1), batch_norm(1, 0.001)

    def forward(self, x, y):
        return self.conv(x) + self.norm(self.conv(y))


class CalledTwice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(32, 32, 3, stride=2), batch_norm(32, 0.001)

    def once(self, x):
        return self.norm(self.conv(x))

    def forward(self, x):
        return self.once(x) + self.once(x + 1)


class FunctionalCalledTwice(CalledTwice):
    def once(self, x):
        norm = self.norm
        return torch.nn.functional.batch_norm(
            self.conv(x), norm.running_mean, norm.running_var, norm.weight, norm.bias, False, norm.momentum, norm.eps
        )


class TwoNorms(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(32, 32, 3, stride=2)
        self.norm, self.other = batch_norm(32, 0.001), batch_norm(32, 0.1, shift=3)

    def forward(self, x):
        return self.norm(self.conv(x)) + self.other(self.conv(x))


class TwoFunctionalNorms(TwoNorms):
    def forward(self, x):
        conv, norm, other = self.conv, self.norm, self.other
        apply = torch.nn.functional.batch_norm
        return apply(conv(x), norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps) + apply(
            conv(x), other.running_mean, other.running_var, other.weight, other.bias, eps=other.eps
        )


def on_device(device, module_class):
    return module_class().eval().to(device)


def evaluated(module_class):
    return Program(make=partial(on_device, module_class=module_class), inference=True)


def two_images(device):
    return [tuple(torch.randn(64, 1, 32, 32).to(device) for _ in range(2))]


def image(device):
    return [(torch.randn(3, 32, 32, 32).to(device),)]


@clause("freezing.conv_bn.with_and_without")
def test_convolution_used_with_and_without_norm(stack, device):
    """A convolution whose result is used with batch norm once and without it once is not folded for both."""
    run = stack.run(evaluated(WithAndWithoutNorm), two_images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@pytest.mark.parametrize("module_class", [CalledTwice, FunctionalCalledTwice])
@clause("freezing.conv_bn.called_twice")
def test_module_called_twice(stack, device, module_class):
    """A convolution and batch norm that the program calls twice are folded once for each call, never twice for one."""
    run = stack.run(evaluated(module_class), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@pytest.mark.parametrize("module_class", [CalledTwice, FunctionalCalledTwice])
@clause("freezing.conv_bn.called_twice")
def test_both_calls_are_folded(stack, device, module_class):
    """Two convolutions and no batch norm are left of the module that is called twice."""
    run = stack.run(evaluated(module_class), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 2
    assert run.lowered.absent("sqrt")


@pytest.mark.parametrize("module_class", [TwoNorms, TwoFunctionalNorms])
@clause("freezing.conv_bn.two_norms")
def test_two_norms_over_one_convolution(stack, device, module_class):
    """Two batch norms over one convolution each keep their own statistics and eps."""
    run = stack.run(evaluated(module_class), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@pytest.mark.parametrize("module_class", [TwoNorms, TwoFunctionalNorms])
@clause("freezing.conv_bn.two_norms")
def test_frozen_norms_over_one_convolution(stack, device, module_class):
    """One convolution serves both batch norms, neither of which is folded into it: each has constants of its own."""
    run = stack.run(evaluated(module_class), image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    assert run.lowered.absent("batch_norm")
    assert run.lowered.absent("sqrt")
    run.lowered.expect(
        """\
const0: f32[32]
in0: f32[3, 32, 32, 32]
const1: f32[32, 32, 3, 3] _mkldnn
const2: f32[32, 1, 1]
const3: f32[32, 1, 1]
const4: f32[32, 1, 1]
const5: f32[32, 1, 1]
const6: f32[32, 1, 1]
const7: f32[32, 1, 1]
const8: f32[32, 1, 1]
const9: f32[32, 1, 1]
_convolution_pointwise: f32[3, 32, 15, 15](7200, 1, 480, 32) = mkldnn._convolution_pointwise(in0, const1, const0, [0, 0], [2, 2], [1, 1], 1, 'none', [], '')
sub: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.sub(_convolution_pointwise, const2)
mul: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.mul(sub, const3)
mul_1: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.mul(mul, const4)
add: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.add(mul_1, const5)
sub_1: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.sub(_convolution_pointwise, const6)
mul_2: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.mul(sub_1, const7)
mul_3: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.mul(mul_2, const8)
add_1: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.add(mul_3, const9)
add_2: f32[3, 32, 15, 15](7200, 1, 480, 32) = aten.add(add, add_1)
inductor_force_stride_order: f32[3, 32, 15, 15] = prims.inductor_force_stride_order(add_2, (7200, 225, 15, 1))
return (inductor_force_stride_order,)
""",
        device="cpu",
    )
