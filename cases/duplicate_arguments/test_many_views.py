"""A hundred views of one buffer and one that overlaps half of them: guards stay few."""

import torch

from conformance import clause, needs


def shift_the_first(first, *rest):
    first.add_(1)
    return torch.cat(rest)


def shift_all(*xs):
    for x in xs:
        x.add_(1)
    return xs[0] * 2


def views(count, size):
    """A view of that size, over half of the first of that many views of ten elements of one buffer, and these."""

    def calls(device):
        buffer = torch.arange(1000.0, device=device)
        return [(buffer[5 : 5 + size], *buffer.split(10)[:count])]

    return calls


def few_then_a_hundred(device):
    # Only the size of the first differs between the calls and is dynamic in the second: that keeps it quick.
    return [*views(2, 10)(device), *views(100, 500)(device)]


@needs("compile", "recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.guards_are_linear")
def test_hundred_and_one_views(stack, device):
    """A hundred views and one over half of them have three guards each that relate tensors."""
    run = stack.run(shift_the_first, few_then_a_hundred)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.guards.expect("""\
properties of a tensor: 3
distinct from other tensors: 3

properties of a tensor: 101
distinct from other tensors: 101
storage overlap: 101
""")
    assert run.guards.total(1) <= 10 * 101


@needs("compile", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.overlap.guards_are_linear")
def test_guards_grow_with_the_number_of_views(stack, device):
    """With all sizes dynamic, twice as many views have at most twice as many guards."""
    few = stack.run(shift_all, views(3, 15), dynamic=True)
    many = stack.run(shift_all, views(6, 30), dynamic=True)

    few.assert_matches_eager()
    many.assert_matches_eager()
    many.assert_compiled(graphs=1, recompiles=0)
    many.guards.expect("""\
properties of a tensor: 7
distinct from other tensors: 7
storage overlap: 7
""")
    assert many.guards.total(0) <= 2 * few.guards.total(0)
