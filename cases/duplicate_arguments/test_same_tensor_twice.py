"""The same tensor for two parameters: what is compiled for it, and when it is compiled again."""

import torch

from conformance import clause, needs


def truncate_both(x, y):
    x.trunc_()
    y.trunc_()
    return x + y


def mutate_four(a, b, c, d):
    a.mul_(2)
    b.add_(1)
    c.mul_(3)
    d.add_(1)
    return a + b + c + d


def halves(device):
    leaf = torch.tensor([0.5, -1.5, 2.5], device=device, requires_grad=True)
    return [leaf.clone() for _ in range(4)]


def distinct_twice(device):
    a, b, c, d = halves(device)
    return [(a, b), (c, d)]


def same_then_distinct(device):
    a, b, c, _ = halves(device)
    return [(a, a), (b, c)]


def whole(device):
    return [torch.arange(4.0, device=device) + start for start in range(8)]


def all_the_same_then_three(device):
    a, b, c, *_ = whole(device)
    return [(a, a, a, a), (b, c, c, c)]


def two_the_same_then_none(device):
    a, b, c, d, e, f, g, _ = whole(device)
    return [(a, b, c, c), (d, e, f, g)]


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.same_tensor_twice")
def test_distinct_tensors_compile_once(stack, device):
    """Distinct tensors in two calls compile once."""
    run = stack.run(truncate_both, distinct_twice)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in1.trunc_()
add: f32[3] = add(in0, in1)
return (add,)
""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.same_tensor_twice")
def test_same_tensor_then_distinct(stack, device):
    """One tensor for both parameters and then two compile twice, for that reason."""
    run = stack.run(truncate_both, same_then_distinct)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""x is y""")
    run.dynamo.expect("""\
in0: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in0.trunc_()
add: f32[3] = add(in0, in0)
return (add,)

in0: f32[3]
in1: f32[3]
trunc_: f32[3] = in0.trunc_()
trunc__1: f32[3] = in1.trunc_()
add: f32[3] = add(in0, in1)
return (add,)
""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.right_pair")
def test_all_the_same_then_the_last_three(stack, device):
    """Four times one tensor and then one and three times another compile twice; the guard names the pair that differs."""
    run = stack.run(mutate_four, all_the_same_then_three)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is b""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.right_pair")
def test_last_two_the_same_then_none(stack, device):
    """The last two the same and then none compile twice; the guard names the last two."""
    run = stack.run(mutate_four, two_the_same_then_none)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""c is d""")
