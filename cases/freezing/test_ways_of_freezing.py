"""Freezing that discards the module's parameters, and freezing through the C++ wrapper."""

import gc
import weakref
from functools import partial

import torch

from conformance import Program, call, clause, needs, probes

DISCARDING = {"inductor.freezing": True, "inductor.freezing_discard_parameters": True}


#: The parameter of the program that was built last, for as long as anything else keeps it alive.
ALIVE = weakref.WeakValueDictionary()


class AddsItsParameter(torch.nn.Module):
    """The sum of the parameter and ten is a constant of its own, so that nothing needs the parameter."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4.0))

    def forward(self, x):
        return (self.weight + 10) + x


class ConvBatchNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 32, 3, stride=2)
        self.norm = torch.nn.BatchNorm2d(32, eps=0.001)
        number = torch.arange(32.0)
        with torch.no_grad():
            self.norm.running_mean.copy_(number % 5 - 2)
            self.norm.running_var.copy_((number % 4 + 0.5) * 0.001)
            self.norm.weight.copy_(number % 3 - 1.25)
        self.eval()

    def forward(self, x):
        return self.norm(self.conv(x))


def image(device):
    return torch.randn(3, 3, 32, 32).to(device)


def two_calls(device):
    return [(image(device),), (image(device),)]


def closing_over_the_module(device):
    """A function, because the module's own parameters are not there to be compared after freezing."""
    module = ConvBatchNorm().to(device)

    def program(x):
        return module(x)

    return program


def adding_a_parameter(device):
    module = AddsItsParameter().to(device)
    ALIVE["weight"] = module.weight

    def program(x):
        return module(x)

    return program


def is_alive(arguments, outputs):
    gc.collect()
    return "weight" in ALIVE


def row(device):
    return [(torch.arange(4.0, device=device),)]


def run_uncompiled(program, x):
    program(x)


def eager_between(device):
    return [(image(device),), call(image(device), before=partial(run_uncompiled, x=image(device)))]


@needs("freezing")
@clause("freezing.parameters.discarded")
def test_eager_module_raises_after_discarding(stack, device):
    """Once freezing has discarded the parameters, running the module itself raises the documented error."""
    run = stack.run(Program(make=closing_over_the_module, inference=True, config=DISCARDING), eager_between)

    run.assert_matches_eager(
        allowing={
            "exception": "the documented error, which eager has no reason to raise",
            "globals['module']": "its parameters are erased, as freezing_discard_parameters says",
        }
    )
    run.assert_compiled(graphs=1, recompiles=0)
    run.error.expect("""\
RuntimeError: Trying to run Pytorch Eager Module after Dynamo Freezing. The original parameters have been
discarded for memory efficiency. Found in op aten.convolution.default for erased parameter weight of Conv2d(3,
32, kernel_size=(3, 3), stride=(2, 2))
""")


@needs("freezing", "lowered_graph")
@clause("freezing.parameters.freed")
def test_folded_parameter_is_freed(stack, device):
    """Nothing keeps a parameter alive that was folded into another constant and discarded."""
    program = Program(
        make=adding_a_parameter, inference=True, after=is_alive, probes=(probes.Unwatched(),), config=DISCARDING
    )
    run = stack.run(program, row)

    run.assert_matches_eager(
        allowing={"after[0].value": "eager needs the parameter that the frozen program is free of"}
    )
    run.assert_compiled(graphs=1, recompiles=0)
    assert [(found.name, found.actual) for found in run.comparison.discrepancies] == [("after[0].value", "False")]
    run.lowered.expect("""\
in0: f32[4]
const0: f32[4]
add: f32[4] = aten.add(const0, in0)
return (add,)
""")


@needs("freezing", "lowered_graph")
@clause("freezing.cpp_wrapper.called_twice")
def test_cpp_wrapper(stack, device):
    """A frozen program behind the C++ wrapper gives eager's result in the second call as in the first."""
    config = {"inductor.cpp_wrapper": True}
    run = stack.run(Program.of(ConvBatchNorm, inference=True, config=config), two_calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 1
    assert run.lowered.absent("batch_norm")
    assert "const2" not in run.lowered.text
    run.forward.operators.expect("""\
aten.convolution
aten._native_batch_norm_legit_no_training
""")
    run.lowered.expect(
        """\
in0: f32[3, 3, 32, 32]
const0: f32[32]
const1: f32[32, 3, 3, 3] _mkldnn
_convolution_pointwise: f32[3, 32, 15, 15](7200, 1, 480, 32) = mkldnn._convolution_pointwise(in0, const1, const0, [0, 0], [2, 2], [1, 1], 1, 'none', [], '')
inductor_force_stride_order: f32[3, 32, 15, 15] = prims.inductor_force_stride_order(_convolution_pointwise, (7200, 225, 15, 1))
return (inductor_force_stride_order,)
""",
        device="cpu",
    )
