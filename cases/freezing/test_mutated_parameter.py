"""Freezing and parameters that escape: mutated by the program, or returned by it."""

import torch

from conformance import Program, clause, needs


class AddsToItsParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4.0))

    def forward(self):
        self.weight.add_(10)
        return self.weight


class ReturnsItsParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(3, 2))

    def forward(self):
        return self.weight[1:], self.weight


class CountsIntoBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("scale", torch.full((3,), 2.0))

    def forward(self, x):
        self.seen.add_(1)
        return self.seen * self.scale + x


def called_twice(device):
    return [(), ()]


def three_batches(device):
    return [(torch.full((3,), float(number), device=device),) for number in range(3)]


def write_through_the_view(arguments, outputs):
    view, parameter = outputs
    view.fill_(-7)
    return parameter.clone()


@needs("module_state")
@clause("freezing.folding.mutated_parameter")
def test_mutated_parameter_keeps_its_state(stack, device):
    """A parameter that the program adds to holds both additions after the second call."""
    run = stack.run(AddsToItsParameter, called_twice, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[4]
add: f32[4] = aten.add(in0, 10)
copy_: f32[4] = aten.copy_(in0, add)
return (copy_,)
""")


@needs("freezing", "lowered_graph", "module_state")
@clause("freezing.folding.mutated_parameter")
def test_mutated_parameter_is_no_constant(stack, device):
    """The frozen graph still reads the parameter, and writes it back."""
    run = stack.run(AddsToItsParameter, called_twice, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("add") == 1
    run.lowered.expect("""\
in0: f32[4]
add: f32[4] = aten.add(in0, 10)
copy_: f32[4] = aten.copy_(in0, add)
return (copy_,)
""")


@needs("module_state")
@clause("freezing.folding.mutated_buffer")
def test_mutated_buffer_keeps_its_state(stack, device):
    """A buffer that the program counts in holds every call's count, beside one that is a constant."""
    run = stack.run(CountsIntoBuffer, three_batches, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3]
in1: f32[3]
in2: f32[3]
add: f32[3] = aten.add(in0, 1)
mul: f32[3] = aten.mul(add, in1)
add_1: f32[3] = aten.add(mul, in2)
copy_(in0, add)
return (add_1,)
""")


@clause("freezing.folding.mutated_buffer")
def test_outputs_follow_a_mutated_buffer(stack, device):
    """The output of each call is of that call's count, in whosever buffer it is counted."""
    run = stack.run(CountsIntoBuffer, three_batches, inference=True)

    elsewhere = "a stack may count in a copy of the module's buffer"
    run.assert_matches_eager(allowing={"buffers['seen'].value": elsewhere, "buffers['seen'].version": elsewhere})
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.add
aten.mul
aten.add
aten.copy_
""")


@needs("module_state")
@clause("freezing.aliasing.returned_parameter")
def test_returned_parameter_and_view_share_memory(stack, device):
    """What is written through a returned view is seen in the parameter that is returned with it."""
    program = Program.of(ReturnsItsParameter, inference=True, after=write_through_the_view)
    run = stack.run(program, called_twice)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3, 2]
slice: f32[2, 2] = aten.slice(in0, 0, 1, max)
return (slice,)
""")


@needs("freezing", "lowered_graph", "module_state")
@clause("freezing.aliasing.returned_parameter")
def test_returned_parameter_is_no_copy(stack, device):
    """The frozen graph copies neither the parameter that it returns nor the view of it."""
    run = stack.run(ReturnsItsParameter, called_twice, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.absent("clone")
    assert run.lowered.absent("copy")
    run.lowered.expect("""\
in0: f32[3, 2]
slice: f32[2, 2] = aten.slice(in0, 0, 1, max)
return (slice,)
""")
