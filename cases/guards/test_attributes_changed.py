"""Attributes that a program reads, of plain objects: changed, added and taken away between calls."""

import pytest
import torch

from conformance import call, clause, expected, needs


class Held:
    """An object of the caller's; what it lacks itself it has from its class."""

    inherited = 5

    def __init__(self):
        self.factor = 2
        self.name = "double"
        self.option = None
        self.values = [1]
        self.weight = torch.ones(3)


class Slotted:
    __slots__ = ("factor",)

    def __init__(self):
        self.factor = 2


class Computed:
    """Attributes that nobody set."""

    def __init__(self):
        self.known = {"factor": 2}

    def __getattr__(self, name):
        return self.known[name]


def multiply(x, held):
    return x * held.factor


def choose_by_name(x, held):
    return x * 2 if held.name == "double" else x + 1


def choose_by_presence(x, held):
    return x * 2 if held.option is None else x + 1


def count_values(x, held):
    return x * len(held.values)


def add_weight(x, held):
    return x + held.weight.to(x.device)


def setting(**values):
    """A step that sets attributes; those that are set to ... are taken away."""

    def step(held):
        for name, value in values.items():
            if value is not ...:
                setattr(held, name, value)
            elif hasattr(held, name):
                delattr(held, name)

    return step


def setting_known(**values):
    return lambda held: held.known.update(values)


def setting_by_dict(**values):
    return lambda held: held.__dict__.update(values)


def alternating(make, first, second):
    def calls(device):
        held, x = make(), torch.arange(3.0, device=device)
        return [call(x, held, before=lambda _, step=step: step(held)) for step in (first, second, first)]

    return calls


ROWS = [
    pytest.param(multiply, Held, setting(factor=2), setting(factor=3), expected("""held.factor == 2"""), id="number"),
    pytest.param(
        multiply, Held, setting(factor=2), setting(factor=2.0), expected("""held.factor == 2"""), id="type_of_a_number"
    ),
    pytest.param(multiply, Slotted, setting(factor=2), setting(factor=3), expected("""held.factor == 2"""), id="slot"),
    pytest.param(
        multiply,
        Computed,
        setting_known(factor=2),
        setting_known(factor=3),
        expected("""held.known['factor'] == 2"""),
        id="computed",
    ),
    pytest.param(
        multiply,
        Held,
        setting_by_dict(factor=2),
        setting_by_dict(factor=3),
        expected("""held.factor == 2"""),
        id="by_dict",
    ),
    pytest.param(
        choose_by_name,
        Held,
        setting(name="double"),
        setting(name="one"),
        expected("""held.name == 'double'"""),
        id="string",
    ),
    pytest.param(
        choose_by_presence,
        Held,
        setting(option=None),
        setting(option=1),
        expected("""held.option is None"""),
        id="none",
    ),
    pytest.param(
        count_values,
        Held,
        setting(values=[1]),
        setting(values=[1, 2]),
        expected("""len(held.values) == 1"""),
        id="list",
    ),
    pytest.param(
        add_weight,
        Held,
        setting(weight=torch.ones(3)),
        setting(weight=torch.ones(2, 1)),
        expected("""rank of held.weight: expected 1, actual 2"""),
        id="tensor",
    ),
]


@pytest.mark.parametrize(("program", "make", "first", "second", "reason"), ROWS)
@needs("recompiles")
@clause("guards.attributes.of_objects")
def test_attribute_of_an_object(stack, device, program, make, first, second, reason):
    """A call between two others that finds an object in another state compiles once more and is right."""
    run = stack.run(program, alternating(make, first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
