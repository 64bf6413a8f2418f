"""Parameters that a module holds under two names, ties and unties: one input, and what it is compiled again for."""

import torch

from conformance import call, clause, needs


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3, bias=False)
        self.second = torch.nn.Linear(3, 3, bias=False)
        with torch.no_grad():
            self.first.weight.copy_(torch.arange(9.0).reshape(3, 3) % 5 - 2)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


class HeldTwice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.shift = self.scale

    def forward(self, x):
        return self.scale * x + self.shift


def one_call(device):
    return [(torch.tensor([1.0, -2.0, 3.0], device=device),)]


def untie(module):
    module.second.weight = torch.nn.Parameter(module.first.weight.detach() + 1)


def tie(module):
    module.second.weight = module.first.weight


def rows(device):
    return torch.tensor([[1.0, -2.0, 3.0], [0.0, 2.0, -1.0]], device=device)


def tied_then_untied(device):
    return [(rows(device),), call(rows(device), before=untie)]


def untied_then_tied(device):
    return [call(rows(device), before=untie), call(rows(device), before=tie)]


@needs("training")
@clause("duplicate_arguments.parameters.tied")
def test_tied_linears(stack, device):
    """Two layers with one weight get it as one input, and its gradient is that of both."""
    run = stack.run(Tied, one_call)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3, 3]
in1: f32[3]
linear: f32[3] = linear(in1, in0, None)
linear_1: f32[3] = linear(linear, in0, None)
return (linear_1,)
""")


@needs("training")
@clause("duplicate_arguments.parameters.tied")
def test_parameter_under_two_names(stack, device):
    """A parameter under two names of one module is one input, and its gradient is that of both."""
    run = stack.run(HeldTwice, one_call)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
mul: f32[3] = mul(in0, in1)
add: f32[3] = add(mul, in0)
return (add,)
""")


@needs("recompiles", "training")
@clause("duplicate_arguments.parameters.untied")
def test_tied_then_untied(stack, device):
    """A weight that two layers share, and then two weights, compile twice, for that reason."""
    run = stack.run(Tied, tied_then_untied)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""self.first.weight is self.second.weight""")
    run.dynamo.expect("""\
in0: f32[3, 3]
in1: f32[2, 3]
linear: f32[2, 3] = linear(in1, in0, None)
linear_1: f32[2, 3] = linear(linear, in0, None)
return (linear_1,)

in0: f32[3, 3]
in1: f32[2, 3]
in2: f32[3, 3]
linear: f32[2, 3] = linear(in1, in0, None)
linear_1: f32[2, 3] = linear(linear, in2, None)
return (linear_1,)
""")


@needs("training")
@clause("duplicate_arguments.parameters.shared_later")
def test_untied_then_tied(stack, device):
    """Two weights, and then one that two layers share, have eager's values and gradients."""
    run = stack.run(Tied, untied_then_tied)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")
