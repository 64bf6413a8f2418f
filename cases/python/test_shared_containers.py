"""Containers of classes, modules and globals that a program changes, call after call."""

import collections

import pytest
import torch

from conformance import Program, clause, expected, needs

REGISTER, ORDER = {}, collections.OrderedDict()


def make_of_class(device):
    class Net(torch.nn.Module):
        notes = []

        def forward(self, x):
            type(self).notes.append(len(self.notes))
            return x * len(Net.notes), tuple(self.notes)

    return Net()


def make_of_base(device):
    class Base:
        notes = {}

    class Derived(Base):
        def add(self, x):
            self.notes[len(self.notes)] = "added"
            return x * len(Base.notes)

    one, other = Derived(), Derived()

    def program(x):
        return one.add(x), other.add(x), dict(Base.notes)

    return program


def make_counter_of_class(device):
    class Tool:
        used = 0

        @classmethod
        def use(cls, x):
            cls.used += 1
            return x * cls.used

    def program(x):
        return Tool.use(x), Tool.use(x)

    return program


def make_of_module(device):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.recent, self.table = collections.deque(maxlen=2), collections.defaultdict(list)

        def forward(self, x):
            self.recent.append(len(self.recent))
            self.table["a"].append(len(self.table))
            return x * len(self.recent)

    return Net()


def make_default_argument(device):
    def note(x, notes=[]):
        notes.append(1)
        return x * len(notes)

    def program(x):
        return note(x), note(x)

    return program


def in_a_global(x):
    REGISTER[len(REGISTER)] = "new"
    ORDER[str(len(ORDER))] = 1
    ORDER.move_to_end("0")
    return x * len(REGISTER), list(ORDER)


def three_calls(device):
    return [(torch.arange(3.0, device=device),) for _ in range(3)]


PROGRAMS = [
    pytest.param(Program(make=make_of_class), expected("""mul"""), id="class"),
    pytest.param(Program(make=make_of_base), expected("""mul; mul"""), id="base"),
    pytest.param(Program(make=make_counter_of_class), expected("""add; mul; add; mul"""), id="counter_of_class"),
    pytest.param(Program(make=make_of_module), expected("""mul"""), id="module"),
    pytest.param(Program(make=make_default_argument), expected("""mul; mul"""), id="default_argument"),
    pytest.param(in_a_global, expected("""mul"""), id="global"),
]


@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@needs("python_objects")
@clause("python.containers.of_classes_and_modules")
def test_every_call_adds(stack, device, program, operators):
    """What a program adds to a container that outlives the call is there in the next, as in eager."""
    run = stack.run(program, three_calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect(operators)
