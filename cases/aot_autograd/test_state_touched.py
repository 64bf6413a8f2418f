"""Attributes, globals, closures and generators that a program touches: they end as in eager."""

import pytest
import torch

from conformance import Program, clause, expected, needs, tensors


class Held:
    """An object of the caller's."""

    def __init__(self):
        self.count = 1


COUNT = 0
LAST = None


def set_attributes(x, held):
    held.count += 1
    held.last = x * 2
    return x + 1


def delete_attribute(x, held):
    del held.count
    held.made = [x * 2]
    return x + 1


def set_by_name(x, held):
    setattr(held, "na" + "me", "set")
    held.__dict__["other"] = 3
    return x + 1


def take_from_generator(x, numbers):
    y = x * 2
    return y + next(numbers)


def attributes(device):
    return [(torch.ones(2, device=device), Held())]


def generator(device):
    return [(torch.ones(2, device=device), (number for number in [1, 2, 3]))]


def rest_of_generator(arguments, output):
    return list(arguments[1])


def count_globally(x):
    global COUNT, LAST
    COUNT += 1
    LAST = x * 2
    return x + COUNT


class Counting(torch.nn.Module):
    """State of a module that is neither parameter nor buffer."""

    def __init__(self):
        super().__init__()
        self.calls, self.history, self.last = 0, [], None

    def forward(self, x):
        self.calls += 1
        self.history.append(self.calls)
        self.last = x * 2
        return x + 1


def make_closure(device):
    count, log = 0, []

    def program(x):
        nonlocal count
        count += 1
        log.append(x * count)
        return x + 1

    return program


ATTRIBUTES = [
    pytest.param(set_attributes, expected("""mul; add"""), id="set"),
    pytest.param(delete_attribute, expected("""mul; add"""), id="delete"),
    pytest.param(set_by_name, expected("""add"""), id="by_name"),
]


@pytest.mark.parametrize(("program", "operators"), ATTRIBUTES)
@needs("python_objects")
@clause("aot_autograd.side_effects.state")
def test_attributes(stack, device, program, operators):
    """Attributes of the caller's object end as in eager."""
    run = stack.run(program, attributes)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@needs("graph_breaks", "python_objects")
@clause("aot_autograd.side_effects.state")
def test_generator(stack, device):
    """A generator of the caller's has as much left as in eager."""
    run = stack.run(Program.of(take_from_generator, after=rest_of_generator), generator)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)
    run.dynamo.operators.expect("""\
mul
add
""")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(count_globally, id="global"),
        pytest.param(Counting, id="module"),
        pytest.param(Program(make=make_closure), id="closure"),
    ],
)
@needs("python_objects")
@clause("aot_autograd.side_effects.state")
def test_state_of_the_program(stack, device, program):
    """What the program keeps outside of its arguments is what eager keeps."""
    run = stack.run(program, tensors((2,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
mul
add
""")
