"""Containers among the arguments: other lengths, orders, keys and elements in another one."""

import collections

import pytest
import torch

from conformance import call, clause, expected, needs


def scale_by_length(x, held):
    return x * len(held)


def add_keys(x, held):
    for key in held:
        x = x * 2 + len(key)
    return x


def choose_by_key(x, held):
    return x * 2 if "double" in held else x + 1


def choose_by_member(x, held):
    return x * 2 if 2 in held else x + 1


def choose_by_truth(x, held):
    return x * 2 if held else x + 1


def first_or_default(x, held):
    return x * held.get("a", 7)


def nested_length(x, held):
    return x * len(held["inner"][0])


def choose_by_type(x, held):
    return x * 2 if isinstance(held[0], str) else x + 1


def choose_by_container(x, held):
    return x * 2 if isinstance(held, tuple) else x + 1


def choose_by_equality(x, held):
    return x * 2 if held == [1, 2] else x + 1


def bounds(x, held):
    return x * held.stop


def alternating(first, second):
    """Fresh containers for each call."""

    def calls(device):
        x = torch.arange(3.0, device=device)
        return [call(x, make()) for make in (first, second, first)]

    return calls


def ordered(*keys):
    return lambda: collections.OrderedDict((key, len(key)) for key in keys)


def plain(*keys):
    return lambda: {key: len(key) for key in keys}


def value(one):
    return lambda: one


def row(*values, earlier=None, **more):
    """A row, with the text that it has before 2.13 where that is another one."""
    return pytest.param(*values, earlier or values[-1], **more)


FRESH = [
    row(scale_by_length, lambda: [1], lambda: [1, 2], expected("""len(held) == 1"""), id="length_of_list"),
    row(scale_by_length, lambda: (1,), lambda: (1, 2), expected("""len(held) == 1"""), id="length_of_tuple"),
    row(scale_by_length, plain("a"), plain("a", "bb"), expected("""len(held) == 1"""), id="length_of_dict"),
    row(scale_by_length, lambda: {1}, lambda: {1, 2}, expected("""held == {1}"""), id="length_of_set"),
    row(
        scale_by_length,
        lambda: collections.deque([1]),
        lambda: collections.deque([1, 2]),
        expected("""len(held) == 1"""),
        id="length_of_deque",
    ),
    row(scale_by_length, value(range(2)), value(range(3)), expected("""held.stop == 2"""), id="range"),
    row(
        scale_by_length,
        value(torch.Size([2])),
        value(torch.Size([2, 2])),
        expected("""len(held) == 1"""),
        id="size",
    ),
    row(bounds, value(slice(0, 2)), value(slice(0, 3)), expected("""held.stop == 2"""), id="slice"),
    row(choose_by_truth, lambda: [], lambda: [0], expected("""not held"""), id="empty"),
    row(
        add_keys,
        plain("a", "bb"),
        plain("bb", "a"),
        expected("""list(dict.keys(held))[0] == 'a'"""),
        id="order_of_keys",
    ),
    row(
        add_keys,
        ordered("a", "bb"),
        ordered("bb", "a"),
        expected("""list(dict.keys(held))[0] == 'a'"""),
        id="order_of_ordered_dict",
    ),
    row(
        choose_by_key,
        plain("a"),
        plain("double"),
        expected("""not ___dict_contains('double', held)"""),
        id="key",
    ),
    row(
        first_or_default,
        plain("b"),
        plain("a"),
        expected("""not ___dict_contains('a', held)"""),
        id="key_of_get",
    ),
    row(
        choose_by_member,
        lambda: {1, 2},
        lambda: {1, 3},
        expected("""set.__contains__(held, 2)"""),
        id="member_of_set",
    ),
    row(
        choose_by_member,
        value(frozenset({1, 2})),
        value(frozenset({1, 3})),
        expected("""set.__contains__(held, 2)"""),
        id="frozenset",
    ),
    row(choose_by_member, lambda: [1, 2], lambda: [1, 3], expected("""held[1] == 2"""), id="member_of_list"),
    row(choose_by_equality, lambda: [1, 2], lambda: [2, 1], expected("""held[0] == 1"""), id="order_of_list"),
    row(
        choose_by_type,
        lambda: ["1"],
        lambda: [1],
        expected("""type of held[0]"""),
        earlier=expected("""held[0] == '1'"""),
        id="type_of_element",
    ),
    row(choose_by_container, lambda: (1,), lambda: [1], expected("""type of held"""), id="type_of_container"),
    row(
        nested_length,
        lambda: {"inner": [[1]]},
        lambda: {"inner": [[1, 2]]},
        expected("""len(held['inner'][0]) == 1"""),
        id="nested",
    ),
]


@pytest.mark.parametrize(("program", "first", "second", "reason", "earlier"), FRESH)
@needs("recompiles")
@clause("guards.containers.changed")
def test_other_container(stack, device, program, first, second, reason, earlier):
    """A call with another container between two with equal ones compiles once more and is right."""
    run = stack.run(program, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason, since="2.13")
    # Earlier, an element is compared before its type is.
    run.recompiles.expect(earlier, until="2.13")
