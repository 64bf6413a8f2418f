"""Containers of the caller's that change between calls."""

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


def add_values(x, held):
    for value in held.values():
        x = x * 2 + value
    return x


def choose_by_key(x, held):
    return x * 2 if "double" in held else x + 1


def choose_by_member(x, held):
    return x * 2 if 2 in held else x + 1


def changed_in_place(make, change, undo):
    """One container, changed and changed back."""

    def calls(device):
        x, held = torch.arange(3.0, device=device), make()
        steps = [None, lambda _: change(held), lambda _: undo(held)]
        return [call(x, held, before=step) for step in steps]

    return calls


def ordered(*keys):
    return lambda: collections.OrderedDict((key, len(key)) for key in keys)


def plain(*keys):
    return lambda: {key: len(key) for key in keys}


def value(one):
    return lambda: one


def move_first_to_end(held):
    held.move_to_end(next(iter(held)))


def reinsert_first(held):
    key = next(iter(held))
    held[key] = held.pop(key)


IN_PLACE = [
    pytest.param(
        scale_by_length,
        lambda: [1],
        lambda held: held.append(2),
        list.pop,
        expected("""len(held) == 1"""),
        id="list_grows",
    ),
    pytest.param(
        add_keys,
        plain("a", "bb"),
        reinsert_first,
        reinsert_first,
        expected("""list(dict.keys(held))[0] == 'a'"""),
        id="key_inserted_again",
    ),
    pytest.param(
        add_keys, ordered("a", "bb"), move_first_to_end, move_first_to_end, expected(""""""), id="key_moved_to_end"
    ),
    pytest.param(
        add_values,
        ordered("a", "bb"),
        move_first_to_end,
        move_first_to_end,
        expected(""""""),
        id="value_moved",
    ),
    pytest.param(
        choose_by_key,
        plain("a"),
        lambda held: held.update(double=1),
        lambda held: held.pop("double"),
        expected("""not ___dict_contains('double', held)"""),
        id="key_added",
    ),
    pytest.param(
        choose_by_member,
        lambda: {1, 2},
        lambda held: held.remove(2),
        lambda held: held.add(2),
        expected("""set.__contains__(held, 2)"""),
        id="member_removed",
    ),
]


@pytest.mark.parametrize(("program", "make", "change", "undo", "reason"), IN_PLACE)
@needs("recompiles")
@clause("guards.containers.changed")
def test_container_changes(stack, device, program, make, change, undo, reason):
    """A call after the caller changed its container compiles once more, and the first state is served again."""
    run = stack.run(program, changed_in_place(make, change, undo))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
