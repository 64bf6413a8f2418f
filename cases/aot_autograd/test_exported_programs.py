"""Exported programs: the graph that an exporter made is a program like any other."""

import torch

from conformance import clause, needs, probes, tensors


class CallsPrivateForward(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(in_channels=3, out_channels=20, kernel_size=(5, 5))

    def _conv_forward(self, x):
        return self.conv._conv_forward(x, self.conv.weight, self.conv.bias)

    def forward(self, x):
        return self._conv_forward(x)


class AddsToItsArgument(torch.nn.Module):
    def forward(self, parameter, y):
        before = torch.is_grad_enabled()
        try:
            torch.set_grad_enabled(False)
            parameter.add_(y)
        finally:
            torch.set_grad_enabled(before)
        return y


class AddsToItsParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4.0))

    def forward(self, y):
        before = torch.is_grad_enabled()
        try:
            torch.set_grad_enabled(False)
            self.weight.add_(y)
        finally:
            torch.set_grad_enabled(before)
        return y


def parameter_and_tensor(device):
    return [(torch.nn.Parameter(torch.arange(4.0, device=device)), torch.ones(4, device=device))]


@clause("aot_autograd.export.compiles")
def test_private_forward_by_dynamo(stack, device):
    """A convolution whose private forward is called is exported by Dynamo, compiled, and does what the module does."""
    run = stack.run(
        CallsPrivateForward, tensors((3, 10, 10), device=device), probes=(probes.ExportedBy("torch._dynamo.export"),)
    )

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3, 10, 10]
in1: f32[20, 3, 5, 5]
in2: f32[20]
conv2d: f32[20, 6, 6] = conv2d(in0, in1, in2, (1, 1), (0, 0), (1, 1), 1)
return (conv2d,)
""")


@clause("aot_autograd.export.compiles")
def test_private_forward_by_torch_export(stack, device):
    """A convolution whose private forward is called is exported, compiled, and does what the module does."""
    run = stack.run(
        CallsPrivateForward, tensors((3, 10, 10), device=device), probes=(probes.ExportedBy("torch.export.export"),)
    )

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3, 10, 10]
in1: f32[20, 3, 5, 5]
in2: f32[20]
conv2d: f32[20, 6, 6] = aten.conv2d(in0, in1, in2)
return (conv2d,)
""")


@needs("input_mutation")
@clause("aot_autograd.export.mutates")
def test_argument_is_mutated_by_dynamo(stack, device):
    """A leaf that is an argument is mutated by the compiled graph that Dynamo exported."""
    run = stack.run(AddsToItsArgument, parameter_and_tensor, probes=(probes.ExportedBy("torch._dynamo.export"),))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[4]
in1: f32[4]
set_grad_enabled(False)
add_: f32[4] = in0.add_(in1)
set_grad_enabled(True)
return (in1,)
""")
    run.forward.expect("""\
in0: f32[4]
in1: f32[4]
add: f32[4] = aten.add(in0, in1)
copy_(in0, add)
return (in1,)
""")


@needs("input_mutation")
@clause("aot_autograd.export.mutates")
def test_argument_is_mutated_by_torch_export(stack, device):
    """A leaf that is an argument is mutated by the compiled graph of an exported program."""
    run = stack.run(AddsToItsArgument, parameter_and_tensor, probes=(probes.ExportedBy("torch.export.export"),))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[4]
in1: f32[4]
graph0:
    in0: f32[4]
    in1: f32[4]
    add_: f32[4] = aten.add_(in0, in1)
    return ()
wrap_with_set_grad_enabled: () = wrap_with_set_grad_enabled(False, graph0, in0, in1)
return (in1,)
""")
    run.forward.expect("""\
in0: f32[4]
in1: f32[4]
add: f32[4] = aten.add(in0, in1)
copy_(in0, add)
return (in1,)
""")


@needs("input_mutation")
@clause("aot_autograd.export.mutates")
def test_parameter_is_mutated_by_dynamo(stack, device):
    """A parameter of the module is mutated by the compiled graph that Dynamo exported."""
    run = stack.run(
        AddsToItsParameter, tensors((4,), device=device), probes=(probes.ExportedBy("torch._dynamo.export"),)
    )

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[4]
in1: f32[4]
add: f32[4] = aten.add(in1, in0)
copy_(in1, add)
return (in0,)
""")


@needs("input_mutation")
@clause("aot_autograd.export.mutates")
def test_parameter_is_mutated_by_torch_export(stack, device):
    """A parameter of the module is mutated by the compiled graph of an exported program."""
    run = stack.run(
        AddsToItsParameter, tensors((4,), device=device), probes=(probes.ExportedBy("torch.export.export"),)
    )

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[4]
in1: f32[4]
add: f32[4] = aten.add(in1, in0)
copy_(in1, add)
return (in0,)
""")
