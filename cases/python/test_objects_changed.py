"""Objects that a program changes: attributes, slots, properties, __setattr__."""

import types

import pytest
import torch

from conformance import clause, expected, needs


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1, 2


class Doubling:
    """Its property stores twice what it is given."""

    def __init__(self):
        self.stored = 1

    @property
    def value(self):
        return self.stored

    @value.setter
    def value(self, new):
        self.stored = new * 2

    @value.deleter
    def value(self):
        self.stored = "deleted"


class Noting:
    """Notes what is set and deleted."""

    def __init__(self):
        self.__dict__["notes"] = []

    def __setattr__(self, name, value):
        self.notes.append(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self.notes.append(f"del {name}")
        super().__delattr__(name)


class Falling:
    """What it lacks is made on demand."""

    def __init__(self):
        self.made = []

    def __getattr__(self, name):
        self.made.append(name)
        return len(name)


class Descriptor:
    def __get__(self, instance, owner):
        return instance.__dict__.get("hidden", 1)

    def __set__(self, instance, value):
        instance.__dict__["hidden"] = value + 1


class Described:
    value = Descriptor()


class Indexed:
    """Is written to and called like a container."""

    def __init__(self):
        self.items = {}

    def __setitem__(self, key, value):
        self.items[key] = value

    def __getitem__(self, key):
        return self.items[key]

    def __delitem__(self, key):
        self.items[key] = "deleted"

    def __contains__(self, key):
        return key == "always"

    def __iadd__(self, value):
        self.items["sum"] = value
        return self


def set_slots(x, held):
    held.a, held.b = 5, x * 2
    return x * held.a


def delete_slot(x, held):
    del held.a
    return x * (2 if hasattr(held, "a") else 3)


def set_property(x, held):
    held.value = 3
    return x * held.value


def delete_property(x, held):
    del held.value
    return x * 2


def note_attributes(x, held):
    held.a = 1
    held.b = x * 2
    del held.a
    return x * len(held.notes)


def fall_back(x, held):
    return x * held.abc + held.de


def set_described(x, held):
    held.value = 4
    return x * held.value


def index(x, held):
    held["a"] = 2
    held += 3
    del held["b"]
    return x * held["a"] if "always" in held else x


def set_namespace(x, held):
    held.a += 1
    held.made = 5
    return x * held.a


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


def state_of(arguments, output):
    held = arguments[1]
    names = [name for name in getattr(held, "__slots__", ()) if hasattr(held, name)]
    return {name: getattr(held, name) for name in names} or list(getattr(held, "__dict__", {}).items())


ATTRIBUTES = [
    pytest.param(set_slots, Slotted, expected("""mul; mul"""), id="slots"),
    pytest.param(delete_slot, Slotted, expected("""mul"""), id="slot_deleted"),
    pytest.param(set_property, Doubling, expected("""mul"""), id="property"),
    pytest.param(delete_property, Doubling, expected("""mul"""), id="property_deleted"),
    pytest.param(note_attributes, Noting, expected("""mul; mul"""), id="setattr"),
    pytest.param(fall_back, Falling, expected("""mul; add"""), id="getattr"),
    pytest.param(set_described, Described, expected("""mul"""), id="descriptor"),
    pytest.param(index, Indexed, expected("""mul"""), id="items"),
]
BREAKING = [
    pytest.param(set_namespace, lambda: types.SimpleNamespace(a=1), expected("""mul"""), id="namespace"),
]


@pytest.mark.parametrize(("program", "make", "operators"), ATTRIBUTES)
@needs("python_objects")
@clause("python.objects.attributes")
def test_object_of_the_caller(stack, device, program, make, operators):
    """An object of the caller's ends with the attributes that eager leaves it, set by eager's rules."""
    run = stack.run(program, on(make), after=state_of)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize(("program", "make", "operators"), BREAKING)
@needs("graph_breaks", "python_objects")
@clause("python.objects.attributes")
def test_object_that_breaks_the_graph(stack, device, program, make, operators):
    """An object whose attributes are not traced ends as in eager."""
    run = stack.run(program, on(make))

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect(operators)
