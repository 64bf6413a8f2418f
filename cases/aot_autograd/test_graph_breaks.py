"""Graph breaks: where a program is cut, and what the pieces still share."""

import torch

from conformance import clause, needs


def add_or_multiply(parameter, y):
    if y[0][0] < 3:
        return y + parameter
    return parameter * y


def branch_in_callee(x, y):
    a = x * y
    a = add_or_multiply(a, a)
    b = x + y
    return a * b


def write_through_alias(like):
    a = torch.tensor([1], device=like.device)[0:1]
    b = a.squeeze()
    a[0] = 0
    if a[0] < 1e5:
        pass
    a[0] = 2
    return b


def write_to_input_through_alias(x):
    a = x[0:1]
    b = a.squeeze()
    a[0] = 0
    if a[0] < 1e5:
        pass
    a[0] = 2
    return b


def ones(device):
    parameter = torch.nn.Parameter(torch.ones(2, 2, device=device))
    return [(parameter, torch.ones(2, 2, device=device))]


def low_then_high(device):
    parameter = torch.nn.Parameter(torch.ones(2, 2, device=device))
    return [(parameter, torch.ones(2, 2, device=device)), (parameter, torch.full((2, 2), 4.0, device=device))]


def one_tensor(device):
    return [(torch.ones(3, device=device),)]


@needs("graph_breaks")
@clause("aot_autograd.graph_breaks.data_dependent_branch")
def test_branch_on_data_in_a_callee(stack, device):
    """A branch on data in a callee makes four graphs with seven ops, cut at the call, at the branch and after it."""
    run = stack.run(branch_in_callee, ones)

    run.assert_matches_eager()
    run.assert_compiled(graphs=4, recompiles=0, graph_breaks=2)
    run.graph_breaks.expect("""\
Data-dependent branching
Data-dependent branching
""")
    run.dynamo.expect("""\
in0: f32[2, 2]
in1: f32[2, 2]
mul: f32[2, 2] = mul(in0, in1)
return (mul,)

in0: f32[2, 2]
getitem: f32[2] = in0[0]
getitem_1: f32[] = getitem[0]
lt: b8[] = getitem_1 < 3
return (lt,)

in0: f32[2, 2]
add: f32[2, 2] = add(in0, in0)
return (add,)

in0: f32[2, 2]
in1: f32[2, 2]
in2: f32[2, 2]
add: f32[2, 2] = add(in0, in1)
mul: f32[2, 2] = mul(in2, add)
return (mul,)
""")


@needs("graph_breaks")
@clause("aot_autograd.graph_breaks.data_dependent_branch")
def test_both_branches(stack, device):
    """A call that takes the other branch compiles that branch alone and takes it."""
    run = stack.run(branch_in_callee, low_then_high)

    run.assert_matches_eager()
    run.assert_compiled(graphs=5, recompiles=0, graph_breaks=2)
    run.dynamo[4].expect("""\
in0: f32[2, 2]
mul: f32[2, 2] = mul(in0, in0)
return (mul,)
""")


@needs("graph_breaks")
@clause("aot_autograd.graph_breaks.aliases_see_later_writes")
def test_alias_of_an_intermediate_sees_a_later_write(stack, device):
    """An alias that was made before a graph break sees what is written through another after it."""
    run = stack.run(write_through_alias, one_tensor)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)
    run.dynamo.expect("""\
tensor: i64[1] = tensor([1])
getitem: i64[1] = tensor[0:1]
squeeze: i64[] = getitem.squeeze()
setitem(getitem, 0, 0)
getitem_1: i64[] = getitem[0]
lt: b8[] = getitem_1 < 100000.0
return (lt, getitem, squeeze)

in0: i64[1]
in1: i64[]
setitem(in0, 0, 2)
return (in1,)
""")


@needs("graph_breaks", "input_mutation")
@clause("aot_autograd.graph_breaks.aliases_see_later_writes")
def test_alias_of_an_input_sees_a_later_write(stack, device):
    """An alias of an input that was made before a graph break sees what is written after it, and so does the input."""
    run = stack.run(write_to_input_through_alias, one_tensor)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)
    run.dynamo.expect("""\
in0: f32[3]
getitem: f32[1] = in0[0:1]
squeeze: f32[] = getitem.squeeze()
setitem(getitem, 0, 0)
getitem_1: f32[] = getitem[0]
lt: b8[] = getitem_1 < 100000.0
return (lt, getitem, squeeze)

in0: f32[1]
in1: f32[]
setitem(in0, 0, 2)
return (in1,)
""")
