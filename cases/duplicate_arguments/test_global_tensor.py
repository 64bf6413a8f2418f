"""A global tensor that is one of the arguments: what is compiled for it, and when it is compiled again."""

import torch

from conformance import call, clause, needs

z = None


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, a, b, e, f):
        a.trunc_()
        b.trunc_()
        return (a + b + z + self.mean) * e * f


def double_the_first(a, b):
    a.mul_(2)
    return a + b + z


def tensors_of(device):
    leaf = torch.tensor([0.5, -1.5, 2.5], device=device, requires_grad=True)
    return leaf.clone(), leaf.clone() * 2, leaf.clone() * 3, leaf.clone() * 4


def make_global(tensor):
    def before(_):
        global z
        z = tensor

    return before


def same_then_distinct(device):
    a, b, *_ = tensors_of(device)
    return [call(a, a, 2, 2, before=make_global(a)), (a, b, 2, 2)]


def global_then_another(device):
    a, b, c, d = tensors_of(device)
    return [call(a, b, before=make_global(a)), (c, d)]


def another_then_global(device):
    a, b, c, d = tensors_of(device)
    return [call(c, d, before=make_global(a)), (a, b)]


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.global_tensor")
def test_global_is_both_arguments_then_the_first(stack, device):
    """A global tensor passed twice and then only once compiles twice, for that reason."""
    run = stack.run(Scaled, same_then_distinct)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is b""")
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in0.trunc_()
add: f32[3] = add(in0, in0)
add_1: f32[3] = add(add, in0)
add_2: f32[3] = add(add_1, in1)
mul: f32[3] = mul(add_2, 2)
mul_1: f32[3] = mul(mul, 2)
return (mul_1,)

in0: f32[3]
in1: f32[3]
in2: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in1.trunc_()
add: f32[3] = add(in0, in1)
add_1: f32[3] = add(add, in0)
add_2: f32[3] = add(add_1, in2)
mul: f32[3] = mul(add_2, 2)
mul_1: f32[3] = mul(mul, 2)
return (mul_1,)
""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.global_stops_being_argument")
def test_global_is_the_argument_then_not(stack, device):
    """After a call with the global tensor, a call with another one sees the global's own values."""
    run = stack.run(double_the_first, global_then_another)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is global z""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.global_starts_being_argument")
def test_global_becomes_the_argument(stack, device):
    """After a call with another tensor, a call with the global one compiles again, for that reason."""
    run = stack.run(double_the_first, another_then_global)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is not global z""")
