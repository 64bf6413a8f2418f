"""Attributes that a program reads indirectly: by hasattr, by default, by number, through another object."""

import pytest
import torch

from conformance import call, clause, expected, needs


def make_function():
    def held():
        return 2

    return held


class Held:
    """An object of the caller's; what it lacks itself it has from its class."""

    inherited = 5

    def __init__(self):
        self.factor = 2
        self.name = "double"
        self.option = None
        self.values = [1]
        self.weight = torch.ones(3)


def choose_by_hasattr(x, held):
    return x * 2 if hasattr(held, "added") else x + 1


def get_or_default(x, held):
    return x * getattr(held, "added", 1)


def multiply_by_inherited(x, held):
    return x * held.inherited


def through_two(x, held):
    return x * held.inner.factor


def count_attributes(x, held):
    return x * len(held.__dict__)


def setting(**values):
    """A step that sets attributes; those that are set to ... are taken away."""

    def step(held):
        for name, value in values.items():
            if value is not ...:
                setattr(held, name, value)
            elif hasattr(held, name):
                delattr(held, name)

    return step


def removing_inherited(held):
    held.__dict__.pop("inherited", None)


def with_inner(factor):
    def step(held):
        held.inner = Held()
        held.inner.factor = factor

    return step


def alternating(make, first, second):
    def calls(device):
        held, x = make(), torch.arange(3.0, device=device)
        return [call(x, held, before=lambda _, step=step: step(held)) for step in (first, second, first)]

    return calls


def row(*values, earlier=None, **more):
    """A row, with the text that it has before 2.12 where that is another one."""
    return pytest.param(*values, earlier or values[-1], **more)


ROWS = [
    row(
        choose_by_hasattr,
        Held,
        setting(added=...),
        setting(added=1),
        expected("""not hasattr(held, 'added')"""),
        id="added",
    ),
    row(
        choose_by_hasattr,
        Held,
        setting(added=1),
        setting(added=...),
        expected("""getattr failed on source held"""),
        earlier=expected("""getattr failed on source held.added"""),
        id="removed",
    ),
    row(
        get_or_default,
        Held,
        setting(added=...),
        setting(added=3),
        expected("""not hasattr(held, 'added')"""),
        id="default_of_getattr",
    ),
    row(
        multiply_by_inherited,
        Held,
        removing_inherited,
        setting(inherited=7),
        expected("""not ___dict_contains('inherited', held.__dict__)"""),
        id="hides_the_class's",
    ),
    row(
        through_two,
        Held,
        with_inner(2),
        with_inner(3),
        expected("""held.inner.factor == 2"""),
        id="of_an_attribute",
    ),
    row(count_attributes, Held, setting(added=...), setting(added=1), expected(""""""), id="number_of_them"),
    row(
        choose_by_hasattr,
        make_function,
        setting(added=...),
        setting(added=1),
        expected(""""""),
        id="added_to_a_function",
    ),
]


@pytest.mark.parametrize(("program", "make", "first", "second", "reason", "earlier"), ROWS)
@needs("recompiles")
@clause("guards.attributes.of_objects")
def test_attribute_of_an_object(stack, device, program, make, first, second, reason, earlier):
    """A call between two others that finds an object in another state compiles once more and is right."""
    run = stack.run(program, alternating(make, first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason, since="2.12")
    # Earlier, it is the attribute itself that is guarded.
    run.recompiles.expect(earlier, until="2.12")
