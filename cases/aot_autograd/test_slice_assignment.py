"""Assignment to a slice: of an input it is seen by the caller, of an intermediate it is not."""

import torch

from conformance import clause, needs, tensors


def assign_corner(a, b):
    a[:, :-1, :, 8:] = b[:, :, :16, :9]
    return b + 1


def assign_corner_and_view(a, b):
    a[:, :-1, :, 8:] = b[:, :, :16, :9]
    return a.view(1, 6, 32, 17)


def assign_corner_of_sine(a, b):
    a = torch.sin(a)
    a[:, :-1, :, 8:] = b[:, :, :16, :9]
    return a.view(1, 6, 32, 17)


def add_in_place_to_sine(x, y):
    return torch.sin(x).add_(y)


def shift_rows(x):
    """Every row takes the row before it, as it was: what is assigned is a copy."""
    x[1:] = x[:-1].clone()
    return x + 1


def write_to_the_output(arguments, output):
    output.add_(1)
    return arguments[0].sum()


@needs("input_mutation")
@clause("aot_autograd.mutation.writeback")
def test_slice_assignment_writes_back(stack, device):
    """A slice of one input assigned from a slice of another is in the caller's own tensor after the call."""
    run = stack.run(assign_corner, tensors((6, 2, 16, 17), (6, 1, 32, 17), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[6, 1, 32, 17]
in1: f32[6, 2, 16, 17]
slice: f32[6, 1, 16, 17](544, 544, 17, 1) = aten.slice(in0, 2, 0, 16)
slice_1: f32[6, 1, 16, 9](544, 544, 17, 1) = aten.slice(slice, 3, 0, 9)
slice_2: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice(in1, 1, 0, -1)
slice_3: f32[6, 1, 16, 9](544, 272, 17, 1) = aten.slice(slice_2, 3, 8, max)
copy: f32[6, 1, 16, 9](544, 272, 17, 1) = aten.copy(slice_3, slice_1)
slice_4: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice(in1, 1, 0, -1)
slice_scatter: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice_scatter(slice_4, copy, 3, 8, max)
slice_scatter_1: f32[6, 2, 16, 17] = aten.slice_scatter(in1, slice_scatter, 1, 0, -1)
add: f32[6, 1, 32, 17] = aten.add(in0, 1)
copy_(in1, slice_scatter_1)
return (add,)
""")


@needs("input_mutation")
@clause("aot_autograd.aliasing.view_of_mutated_input")
def test_view_of_a_mutated_input(stack, device):
    """A view of an input that was assigned to comes out as a view of it: what is written to the one is in the other."""
    calls = tensors((6, 2, 16, 17), (6, 1, 32, 17), device=device)
    run = stack.run(assign_corner_and_view, calls, after=write_to_the_output)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[6, 1, 32, 17]
in1: f32[6, 2, 16, 17]
slice: f32[6, 1, 16, 17](544, 544, 17, 1) = aten.slice(in0, 2, 0, 16)
slice_1: f32[6, 1, 16, 9](544, 544, 17, 1) = aten.slice(slice, 3, 0, 9)
slice_2: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice(in1, 1, 0, -1)
slice_3: f32[6, 1, 16, 9](544, 272, 17, 1) = aten.slice(slice_2, 3, 8, max)
copy: f32[6, 1, 16, 9](544, 272, 17, 1) = aten.copy(slice_3, slice_1)
slice_4: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice(in1, 1, 0, -1)
slice_scatter: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice_scatter(slice_4, copy, 3, 8, max)
slice_scatter_1: f32[6, 2, 16, 17] = aten.slice_scatter(in1, slice_scatter, 1, 0, -1)
copy_(in1, slice_scatter_1)
view: f32[1, 6, 32, 17] = aten.view(slice_scatter_1, [1, 6, 32, 17])
return (view,)
""")


@clause("aot_autograd.mutation.intermediate_alone")
def test_slice_assignment_to_an_intermediate(stack, device):
    """A slice of an intermediate assigned from a slice of an input leaves both inputs as they were."""
    calls = tensors((6, 2, 16, 17), (6, 1, 32, 17), device=device)
    run = stack.run(assign_corner_of_sine, calls, after=write_to_the_output)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[6, 2, 16, 17]
in1: f32[6, 1, 32, 17]
sin: f32[6, 2, 16, 17] = aten.sin(in0)
slice: f32[6, 1, 16, 17](544, 544, 17, 1) = aten.slice(in1, 2, 0, 16)
slice_1: f32[6, 1, 16, 9](544, 544, 17, 1) = aten.slice(slice, 3, 0, 9)
slice_2: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice(sin, 1, 0, -1)
slice_3: f32[6, 1, 16, 9](544, 272, 17, 1) = aten.slice(slice_2, 3, 8, max)
copy: f32[6, 1, 16, 9](544, 272, 17, 1) = aten.copy(slice_3, slice_1)
slice_4: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice(sin, 1, 0, -1)
slice_scatter: f32[6, 1, 16, 17](544, 272, 17, 1) = aten.slice_scatter(slice_4, copy, 3, 8, max)
slice_scatter_1: f32[6, 2, 16, 17] = aten.slice_scatter(sin, slice_scatter, 1, 0, -1)
view: f32[1, 6, 32, 17] = aten.view(slice_scatter_1, [1, 6, 32, 17])
return (view,)
""")


@clause("aot_autograd.mutation.intermediate_alone")
def test_in_place_op_on_an_intermediate(stack, device):
    """An in-place op on what was just computed from an input leaves the input as it was."""
    run = stack.run(add_in_place_to_sine, tensors((2, 3), (2, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
in1: f32[2, 3]
sin: f32[2, 3] = aten.sin(in0)
add: f32[2, 3] = aten.add(sin, in1)
return (add,)
""")


@needs("training")
@clause("aot_autograd.mutation.intermediate_alone")
def test_in_place_op_on_an_intermediate_has_gradients(stack, device):
    """An in-place op on what was just computed from an input has the gradients of the op that is not in place."""
    run = stack.run(add_in_place_to_sine, tensors((2, 3), (2, 3), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.expect("""\
in0: f32[2, 3]
in1: f32[2, 3]
cos: f32[2, 3] = aten.cos(in0)
mul: f32[2, 3] = aten.mul(in1, cos)
return (mul, in1)
""")


@needs("input_mutation")
@clause("aot_autograd.mutation.writeback")
def test_assignment_of_a_copy_that_overlaps(stack, device):
    """A slice that is assigned a copy of one that overlaps it holds the values of before the assignment."""
    run = stack.run(shift_rows, tensors((4, 16), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.slice
aten.clone
aten.slice
aten.copy
aten.slice_scatter
aten.add
aten.copy_
""")
