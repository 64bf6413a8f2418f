"""Arguments that overlap without being one tensor: what the overlap of a call is compiled for."""

import pytest
import torch

from conformance import clause, needs

SHAPES = pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])


def double_the_first(x, y):
    x.mul_(2)
    return x + y


def double_the_first_of_three(x, y, z):
    x.mul_(2)
    return x + y + z


def double_and_shift(x, y):
    x.mul_(2)
    return y + 1


def add(x, y):
    return x + y


def slices(*calls):
    """One new buffer for each call; the arguments are four elements of it, from the given starts."""

    def build(device):
        buffers = [torch.arange(12.0, device=device) for _ in calls]
        return [tuple(buffer[s : s + 4] for s in starts) for buffer, starts in zip(buffers, calls, strict=True)]

    return build


def separate_then_disjoint(device):
    x, y, z, w = (torch.arange(4.0, device=device) + start for start in range(4))
    return [(x, y), *slices((0, 6))(device), (z, w)]


def columns_twice(device):
    buffers = [torch.arange(8.0, device=device).reshape(4, 2) for _ in range(2)]
    return [(buffer[:, 0], buffer[:, 1]) for buffer in buffers]


def whole_and_part_twice(device):
    buffers = [torch.arange(6.0, device=device) for _ in range(2)]
    return [(buffer, buffer[1:4]) for buffer in buffers]


def part_and_whole_twice(device):
    return [(part, whole) for whole, part in whole_and_part_twice(device)]


ALIKE = {
    "slices": slices((0, 2), (0, 2)),
    "columns": columns_twice,
    "whole_and_part": whole_and_part_twice,
    "part_and_whole": part_and_whole_twice,
}


@SHAPES
@pytest.mark.parametrize("calls", ALIKE.values(), ids=ALIKE)
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.same_overlap")
def test_same_overlap_compiles_once(stack, device, calls, dynamic):
    """Two calls whose arguments overlap alike compile once, and the mutation is seen through both."""
    run = stack.run(double_and_shift, calls, dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")


@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.same_overlap")
def test_overlap_that_moves_is_one_graph_with_dynamic_shapes(stack, device):
    """With dynamic shapes, an overlap of other elements is served by the graph of the first call."""
    run = stack.run(double_the_first, slices((0, 2), (0, 3)), dynamic=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.overlap.grows_and_shrinks")
def test_overlap_that_moves_compiles_again_with_static_shapes(stack, device):
    """With static shapes, an overlap of other elements is not served by what was compiled for the first one."""
    run = stack.run(double_the_first, slices((0, 2), (0, 3)), dynamic=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.dynamo.operators.expect("""\
mul_
add
mul_
add
""")


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.grows_and_shrinks")
def test_overlap_disappears(stack, device, dynamic):
    """Overlapping slices and then disjoint ones compile twice, for that reason."""
    run = stack.run(double_the_first, slices((0, 2), (0, 6)), dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""storage overlap of x, y""")


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.grows_and_shrinks")
def test_overlap_appears_in_one_buffer(stack, device, dynamic):
    """Disjoint slices of one buffer and then overlapping ones compile twice, for that reason."""
    run = stack.run(double_the_first, slices((0, 6), (0, 2)), dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""no storage overlap of x, y""")


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.grows_and_shrinks")
def test_overlap_grows(stack, device, dynamic):
    """Two slices that overlap beside one that does not, and then three that do, compile twice, for that reason."""
    run = stack.run(double_the_first_of_three, slices((0, 2, 8), (0, 2, 3)), dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""storage overlap of x, y; no storage overlap of z""")


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.grows_and_shrinks")
def test_overlap_shrinks(stack, device, dynamic):
    """Three slices that overlap, and then two beside one that does not, compile twice, for that reason."""
    run = stack.run(double_the_first_of_three, slices((0, 2, 3), (0, 2, 8)), dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""storage overlap of x, y, z""")


@SHAPES
@needs("compile", "dynamic_shapes")
@clause("duplicate_arguments.overlap.not_guarded_without_mutation")
def test_nothing_mutated(stack, device, dynamic):
    """Where nothing is mutated, overlapping, disjoint and otherwise overlapping slices compile once, unguarded."""
    run = stack.run(add, slices((0, 2), (0, 6), (0, 3)), dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.guards.expect("""\
properties of a tensor: 2
distinct from other tensors: 2
""")


@SHAPES
@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.not_guarded_without_mutation")
def test_nothing_overlaps(stack, device, dynamic):
    """Where nothing overlaps, separate tensors and disjoint slices of one buffer compile once."""
    run = stack.run(double_the_first, separate_then_disjoint, dynamic=dynamic)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")
