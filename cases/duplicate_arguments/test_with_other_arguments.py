"""The same tensor for two parameters beside a module's parameter, numbers and lists: the guard is the same."""

import torch

from conformance import clause, needs


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, a, b, e, f):
        a.trunc_()
        b.trunc_()
        return (a + b + self.mean) * e * f


class ScaledByLists(Scaled):
    def forward(self, e, f, a, b):
        a.trunc_()
        b.trunc_()
        return (a + b + self.mean) * e[0] * f[0]


class Shifted(Scaled):
    def forward(self, a, b):
        a.trunc_()
        b.trunc_()
        return a + b + self.mean


def halves(device):
    leaf = torch.tensor([0.5, -1.5, 2.5], device=device, requires_grad=True)
    return leaf.clone(), leaf.clone() * 2, leaf.clone() * 3


def scaled(device):
    a, b, c = halves(device)
    return [(a, a, 2, 3), (b, c, 2, 3)]


def lists_first(device):
    a, b, c = halves(device)
    return [([3, 2, 1], [4, 5, 6], a, a), ([3, 2, 1], [4, 5, 6], b, c)]


def tensors_only(device):
    a, b, c = halves(device)
    return [(a, a), (b, c)]


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.beside_parameter_and_numbers")
def test_parameter_and_numbers(stack, device):
    """Beside a parameter and two numbers, one tensor passed twice and then two compile twice, for that reason."""
    run = stack.run(Scaled, scaled)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is b""")
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in0.trunc_()
add: f32[3] = add(in0, in0)
add_1: f32[3] = add(add, in1)
mul: f32[3] = mul(add_1, 2)
mul_1: f32[3] = mul(mul, 3)
return (mul_1,)

in0: f32[3]
in1: f32[3]
in2: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in1.trunc_()
add: f32[3] = add(in0, in1)
add_1: f32[3] = add(add, in2)
mul: f32[3] = mul(add_1, 2)
mul_1: f32[3] = mul(mul, 3)
return (mul_1,)
""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.after_lists")
def test_lists_before_the_tensors(stack, device):
    """After two lists of numbers, one tensor passed twice and then two compile twice, for that reason."""
    run = stack.run(ScaledByLists, lists_first)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is b""")
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in0.trunc_()
add: f32[3] = add(in0, in0)
add_1: f32[3] = add(add, in1)
mul: f32[3] = mul(add_1, 3)
mul_1: f32[3] = mul(mul, 4)
return (mul_1,)

in0: f32[3]
in1: f32[3]
in2: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in1.trunc_()
add: f32[3] = add(in0, in1)
add_1: f32[3] = add(add, in2)
mul: f32[3] = mul(add_1, 3)
mul_1: f32[3] = mul(mul, 4)
return (mul_1,)
""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.beside_parameter")
def test_parameter_only(stack, device):
    """Beside a parameter, one tensor passed twice and then two compile twice, for that reason."""
    run = stack.run(Shifted, tensors_only)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is b""")
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in0.trunc_()
add: f32[3] = add(in0, in0)
add_1: f32[3] = add(add, in1)
return (add_1,)

in0: f32[3]
in1: f32[3]
in2: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in1.trunc_()
add: f32[3] = add(in0, in1)
add_1: f32[3] = add(add, in2)
return (add_1,)
""")
