"""Calls that return to a form which was compiled before: nothing is compiled a third time."""

import pytest
import torch

from conformance import call, clause, needs

z = None


class WithParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, a, b, e=1, f=1):
        a.mul_(2)
        b.add_(1)
        return (a + b + self.mean) * e * f


def mutate_both(a, b):
    a.mul_(2)
    b.add_(1)
    return a + b


def with_global(a, b):
    a.mul_(2)
    b.add_(1)
    return a + b + z


def after_lists(e, f, a, b):
    a.mul_(2)
    b.add_(1)
    return (a + b) * e[0] * f[0]


def among_four(a, b, c, d):
    a.mul_(2)
    b.add_(1)
    return a + b + c + d


def of_items(xs):
    return mutate_both(xs[0], xs[1])


def grow(left, right, x):
    left.append(x + 1)
    right.append(x - 1)
    return left, right


def pairs(device):
    """One tensor, two, one, two: each form twice, with tensors of its own."""
    a, b, c, d, e, f = (torch.arange(3.0, device=device) + start for start in range(6))
    return [(a, a), (b, c), (d, d), (e, f)]


def make_global(tensor):
    def before(_):
        global z
        z = tensor

    return before


def pairs_with_global(device):
    return [call(a, b, before=make_global(a)) for a, b in pairs(device)]


def wrapped(wrap):
    return lambda device: [wrap(a, b) for a, b in pairs(device)]


def reversed_calls(calls):
    return lambda device: calls(device)[::-1]


def in_a_list(a, b):
    return ([a, b],)


def beside_two_more(device):
    c, d = torch.ones(3, device=device), torch.ones(3, device=device) * 2
    return [(a, b, c, d) for a, b in pairs(device)]


def slices(device):
    buffers = [torch.arange(12.0, device=device) for _ in range(4)]
    return [(buffer[:4], buffer[start : start + 4]) for buffer, start in zip(buffers, (2, 6, 2, 6), strict=True)]


def lists(device):
    same, again = [], []
    xs = [torch.arange(3.0, device=device) + start for start in range(3)]
    return [(same, same, xs[0]), ([], [], xs[1]), (again, again, xs[2])]


PROGRAMS = [
    pytest.param(mutate_both, pairs, id="pair"),
    pytest.param(WithParameter, wrapped(lambda a, b: (a, b, 2, 2)), id="parameter_and_numbers"),
    pytest.param(with_global, pairs_with_global, id="global"),
    pytest.param(after_lists, wrapped(lambda a, b: ([3, 2, 1], [4, 5, 6], a, b)), id="lists"),
    pytest.param(WithParameter, pairs, id="parameter"),
    pytest.param(among_four, beside_two_more, id="four"),
]


@pytest.mark.parametrize(("program", "calls"), PROGRAMS)
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.recompiles.return_to_first_form")
def test_same_distinct_same_distinct(stack, device, program, calls):
    """One tensor passed twice, two, one and two compile twice in all."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is b""")


@pytest.mark.parametrize(("program", "calls"), PROGRAMS)
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.recompiles.return_to_first_form")
def test_distinct_same_distinct_same(stack, device, program, calls):
    """Two tensors, one passed twice, two and one compile twice in all."""
    run = stack.run(program, reversed_calls(calls))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""a is not b""")


@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.recompiles.return_to_first_form")
def test_items_same_distinct_same_distinct(stack, device):
    """One tensor for two items of a list, two, one and two compile twice in all."""
    run = stack.run(of_items, wrapped(in_a_list))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""xs[0] is xs[1]""")


@needs("recompiles", "dynamic_shapes", "input_mutation")
@clause("duplicate_arguments.recompiles.return_to_first_form")
def test_overlapping_disjoint_overlapping_disjoint(stack, device):
    """Overlapping slices, disjoint ones, overlapping and disjoint ones compile twice in all."""
    run = stack.run(mutate_both, slices, dynamic=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""storage overlap of a, b""")


@needs("recompiles")
@clause("duplicate_arguments.recompiles.return_to_first_form")
def test_same_list_two_lists_same_list(stack, device):
    """One list under two names, two lists and one list compile twice in all."""
    run = stack.run(grow, lists)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""left is right""")
