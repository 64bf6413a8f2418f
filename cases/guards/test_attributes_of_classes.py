"""Attributes that a program reads, of classes and modules, and properties: changed between calls."""

import pytest
import torch

from conformance import Program, call, clause, expected, needs


def make_class_attribute(device):
    class Settings:
        factor = 2

    def program(x):
        return x * Settings.factor

    program.set_to = lambda value: setattr(Settings, "factor", value)
    return program


def make_through_an_instance(device):
    class Settings:
        factor = 2

    held = Settings()

    def program(x):
        return x * held.factor

    program.set_to = lambda value: setattr(Settings, "factor", value)
    return program


def make_of_the_base(device):
    class Base:
        factor = 2

    class Derived(Base):
        pass

    held = Derived()

    def program(x):
        return x * held.factor

    program.set_to = lambda value: setattr(Base, "factor", value)
    return program


def make_property_state(device):
    class Settings:
        stored = 2

        @property
        def factor(self):
            return self.stored + 1

    held = Settings()

    def program(x):
        return x * held.factor

    program.set_to = lambda value: setattr(held, "stored", value)
    return program


def make_property_replaced(device):
    class Settings:
        factor = property(lambda self: 2)

    held = Settings()

    def program(x):
        return x * held.factor

    program.set_to = lambda value: setattr(Settings, "factor", property(lambda self: value))
    return program


def make_class_of_an_instance(device):
    class Two:
        factor = 2

    class Three:
        factor = 3

    held = Two()

    def program(x):
        return x * held.factor

    program.set_to = lambda value: setattr(held, "__class__", {2: Two, 3: Three}[value])
    return program


def make_bases(device):
    class Two:
        factor = 2

    class Three:
        factor = 3

    class Derived(Two):
        pass

    held = Derived()

    def program(x):
        return x * held.factor

    program.set_to = lambda value: setattr(Derived, "__bases__", ({2: Two, 3: Three}[value],))
    return program


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor, self.name, self.option, self.values, self.inner = 2, "double", None, [1], torch.nn.Identity()

    def forward(self, x):
        x = self.inner(x) * self.factor * len(self.values)
        x = x * 2 if self.name == "double" else x
        x = x + 1 if self.option is None else x
        return x * getattr(self, "added", 1)

    def set_to(self, values):
        for name, value in values.items():
            owner = self.inner if name == "of_a_part" else self
            setattr(owner, name, value) if value is not ... else self.__dict__.pop(name, None)


class ReadsPart(Scaled):
    def forward(self, x):
        return x * self.inner.of_a_part


def alternating(first, second):
    def set_to(value):
        return lambda program: program.set_to(value)

    def calls(device):
        return [call(torch.arange(3.0, device=device), before=set_to(value)) for value in (first, second, first)]

    return calls


CLASSES = [
    pytest.param(make_class_attribute, expected("""Settings.factor == 2"""), id="of_the_class"),
    pytest.param(
        make_through_an_instance, expected("""dict(type(held).__dict__)['factor'] == 2"""), id="through_an_instance"
    ),
    pytest.param(
        make_of_the_base, expected("""dict(type(held).__mro__[1].__dict__)['factor'] == 2"""), id="of_the_base"
    ),
    pytest.param(make_property_state, expected("""held.stored == 2"""), id="state_of_a_property"),
    pytest.param(
        make_property_replaced,
        expected("""dict(type(held).__dict__)['factor'].fget.__closure__[0].cell_contents == 2"""),
        id="property_replaced",
    ),
    pytest.param(make_class_of_an_instance, expected("""type of held"""), id="class_of_an_instance"),
    pytest.param(make_bases, expected("""dict(type(held).__mro__[1].__dict__)['factor'] == 2"""), id="bases"),
]
MODULES = [
    pytest.param(Scaled, {"factor": 2}, {"factor": 3}, expected("""self.factor == 2"""), id="number"),
    pytest.param(Scaled, {"name": "double"}, {"name": "none"}, expected("""self.name == 'double'"""), id="string"),
    pytest.param(Scaled, {"option": None}, {"option": 1}, expected("""self.option is None"""), id="none"),
    pytest.param(Scaled, {"values": [1]}, {"values": [1, 2]}, expected("""len(self.values) == 1"""), id="list"),
    pytest.param(Scaled, {"added": ...}, {"added": 3}, expected("""not hasattr(self, 'added')"""), id="added"),
    pytest.param(Scaled, {"added": 3}, {"added": ...}, expected("""KeyError on self.added"""), id="removed"),
    pytest.param(
        ReadsPart, {"of_a_part": 2}, {"of_a_part": 3}, expected("""self.inner.of_a_part == 2"""), id="of_a_part"
    ),
]


@pytest.mark.parametrize(("make", "reason"), CLASSES)
@needs("recompiles")
@clause("guards.attributes.of_classes")
def test_attribute_of_a_class(stack, device, make, reason):
    """A call between two others that finds a class in another state compiles once more and is right."""
    run = stack.run(Program(make=make), alternating(2, 3))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("module", "first", "second", "reason"), MODULES)
@needs("recompiles")
@clause("guards.attributes.of_modules")
def test_attribute_of_a_module(stack, device, module, first, second, reason):
    """A call between two others that finds a module in another state compiles once more and is right."""
    run = stack.run(module, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
