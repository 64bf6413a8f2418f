"""Input mutation: what the caller's tensors hold after a compiled call."""

import torch

from conformance import clause, tensors


class AddsToItsParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4.0))

    def forward(self, x):
        torch.set_grad_enabled(False)
        self.weight.add_(x)
        torch.set_grad_enabled(True)
        return x


def add_through_expanded_view(x):
    y = x.expand(3, *x.shape)
    y[0, 0].add_(5)
    return x * 1


def scale_through_expanded_view(x, z):
    y = x.expand(3, *x.shape)
    y[1, 1].mul_(5)
    return y * z


def add_beyond_the_view(x):
    """The input is a part of its memory, and what is written to begins in it and ends outside."""
    y = x.as_strided((10,), (1,), 5)
    y.add_(1)
    return y


def first_half(device):
    return [(torch.arange(20.0, device=device)[:10],)]


@clause("aot_autograd.mutation.leaf_under_no_grad")
def test_parameter_is_mutated_with_grad_off(stack, device):
    """A parameter that is mutated with grad mode off holds eager's value."""
    run = stack.run(AddsToItsParameter, tensors((4,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[4]
in1: f32[4]
add: f32[4] = aten.add(in0, in1)
copy_(in0, add)
return (in1,)
""")


@clause("aot_autograd.mutation.through_expanded_view")
def test_write_through_expanded_view(stack, device):
    """A write through an expanded view of an input reaches the input."""
    run = stack.run(add_through_expanded_view, tensors((2, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(
        """\
in0: f32[2, 3]
expand: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select: f32[2, 3] = aten.select(expand, 0, 0)
select_1: f32[3] = aten.select(select, 0, 0)
add: f32[3] = aten.add(select_1, 5)
expand_1: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select_2: f32[2, 3] = aten.select(expand_1, 0, 0)
select_scatter: f32[2, 3] = aten.select_scatter(select_2, add, 0, 0)
select_scatter_1: f32[3, 2, 3] = aten.select_scatter(expand_1, select_scatter, 0, 0)
sub: f32[3, 2, 3] = aten.sub(select_scatter_1, in0)
sum: f32[1, 2, 3] = aten.sum(sub, [0], True)
view: f32[2, 3] = aten.view(sum, [2, 3])
add_1: f32[2, 3] = aten.add(in0, view)
mul: f32[2, 3] = aten.mul(add_1, 1)
copy_(in0, add_1)
return (mul,)
""",
        since="2.12",
    )
    # Before 2.12 select_scatter keeps the strides of the expanded view.
    run.forward.expect(
        """\
in0: f32[2, 3]
expand: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select: f32[2, 3] = aten.select(expand, 0, 0)
select_1: f32[3] = aten.select(select, 0, 0)
add: f32[3] = aten.add(select_1, 5)
expand_1: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select_2: f32[2, 3] = aten.select(expand_1, 0, 0)
select_scatter: f32[2, 3] = aten.select_scatter(select_2, add, 0, 0)
select_scatter_1: f32[3, 2, 3](0, 3, 1) = aten.select_scatter(expand_1, select_scatter, 0, 0)
sub: f32[3, 2, 3] = aten.sub(select_scatter_1, in0)
sum: f32[1, 2, 3] = aten.sum(sub, [0], True)
view: f32[2, 3] = aten.view(sum, [2, 3])
add_1: f32[2, 3] = aten.add(in0, view)
mul: f32[2, 3] = aten.mul(add_1, 1)
copy_(in0, add_1)
return (mul,)
""",
        until="2.12",
    )


@clause("aot_autograd.mutation.through_expanded_view")
def test_write_through_expanded_view_has_gradients(stack, device):
    """A write through an expanded view of an input reaches what is multiplied with it, and that one's gradient."""
    run = stack.run(scale_through_expanded_view, tensors((2, 3), (3, 2, 3), device=device, requires_grad=[False, True]))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(
        """\
in0: f32[2, 3]
in1: f32[3, 2, 3]
expand: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select: f32[2, 3] = aten.select(expand, 0, 1)
select_1: f32[3] = aten.select(select, 0, 1)
mul: f32[3] = aten.mul(select_1, 5)
expand_1: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select_2: f32[2, 3] = aten.select(expand_1, 0, 1)
select_scatter: f32[2, 3] = aten.select_scatter(select_2, mul, 0, 1)
select_scatter_1: f32[3, 2, 3] = aten.select_scatter(expand_1, select_scatter, 0, 1)
sub: f32[3, 2, 3] = aten.sub(select_scatter_1, in0)
sum: f32[1, 2, 3] = aten.sum(sub, [0], True)
view: f32[2, 3] = aten.view(sum, [2, 3])
add: f32[2, 3] = aten.add(in0, view)
expand_2: f32[3, 2, 3](0, 3, 1) = aten.expand(add, [3, 2, 3])
mul_1: f32[3, 2, 3] = aten.mul(expand_2, in1)
copy_(in0, add)
return (mul_1, expand_2)
""",
        since="2.12",
    )
    # Before 2.12 select_scatter keeps the strides of the expanded view.
    run.forward.expect(
        """\
in0: f32[2, 3]
in1: f32[3, 2, 3]
expand: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select: f32[2, 3] = aten.select(expand, 0, 1)
select_1: f32[3] = aten.select(select, 0, 1)
mul: f32[3] = aten.mul(select_1, 5)
expand_1: f32[3, 2, 3](0, 3, 1) = aten.expand(in0, [3, 2, 3])
select_2: f32[2, 3] = aten.select(expand_1, 0, 1)
select_scatter: f32[2, 3] = aten.select_scatter(select_2, mul, 0, 1)
select_scatter_1: f32[3, 2, 3](0, 3, 1) = aten.select_scatter(expand_1, select_scatter, 0, 1)
sub: f32[3, 2, 3] = aten.sub(select_scatter_1, in0)
sum: f32[1, 2, 3] = aten.sum(sub, [0], True)
view: f32[2, 3] = aten.view(sum, [2, 3])
add: f32[2, 3] = aten.add(in0, view)
expand_2: f32[3, 2, 3](0, 3, 1) = aten.expand(add, [3, 2, 3])
mul_1: f32[3, 2, 3] = aten.mul(expand_2, in1)
copy_(in0, add)
return (mul_1, expand_2)
""",
        until="2.12",
    )
    run.backward.expect("""\
in0: f32[3, 2, 3](0, 3, 1)
in1: f32[3, 2, 3]
mul: f32[3, 2, 3] = aten.mul(in1, in0)
return (None, mul)
""")


@clause("aot_autograd.mutation.writeback")
def test_write_beyond_an_input(stack, device):
    """A write through a view that is strided beyond the input reaches all of the memory that it covers."""
    run = stack.run(add_beyond_the_view, first_half)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
as_strided
add_
""")
