"""Attributes, globals, closures and generators that a program touches: they end as in eager."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


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


def take_from_two_generators(x, numbers, others):
    y = x * next(numbers)
    return y + next(others)


def use_up_generator(x):
    """The generator is the program's own."""
    numbers = (number * 2 for number in [1, 2, 3])
    y = x * next(numbers)
    return y + sum(numbers)


def use_generator_function(x):
    def multiples():
        y = x
        while True:
            y = y + x
            yield y

    of_x = multiples()
    return next(of_x) * next(of_x)


def attributes(device):
    return [(torch.ones(2, device=device), Held())]


def generator(device):
    return [(torch.ones(2, device=device), (number for number in [1, 2, 3]))]


def generators(device):
    return [(torch.ones(2, device=device), (number for number in [1, 2, 3]), (number for number in [4, 5]))]


def rest_of_generator(arguments, output):
    return [list(generator) for generator in arguments[1:]]


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


def make_with_generator(device):
    numbers = (number for number in [1, 2, 3, 4])

    def program(x):
        return x * next(numbers)

    return program


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
@clause("aot_autograd.side_effects.state")
def test_attributes(stack, device, program, operators):
    """Attributes of the caller's object end as in eager."""
    run = stack.run(program, attributes)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


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


@clause("aot_autograd.side_effects.state")
def test_two_generators(stack, device):
    """Two generators of the caller's have as much left as in eager."""
    run = stack.run(Program.of(take_from_two_generators, after=rest_of_generator), generators)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=2)
    run.dynamo.operators.expect("""\
mul
add
""")


@clause("aot_autograd.side_effects.state")
def test_generator_of_a_closure(stack, device):
    """A generator that the program closes over gives each call the next of its values."""
    one = tensors((2,), device=device)
    run = stack.run(Program(make=make_with_generator), one.then(one).then(one))

    run.assert_matches_eager()
    # The second value is another than the first: what comes after the break is compiled for any number.
    run.assert_compiled(graphs=2, recompiles=1, graph_breaks=1)
    run.dynamo.operators.expect("""\
mul
mul
""")


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(use_up_generator, expected("""mul; add"""), id="expression"),
        pytest.param(use_generator_function, expected("""add; add; mul"""), id="function"),
    ],
)
@clause("aot_autograd.side_effects.state")
def test_generator_of_the_program(stack, device, program, operators):
    """A generator that the program makes and takes from gives it what it gives in eager."""
    run = stack.run(program, tensors((2,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
