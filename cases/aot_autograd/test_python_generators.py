"""Python generators of the caller and of the program: what is taken from them, and what is left in them, is as in eager."""

import pytest
import torch

from conformance import Program, clause, expected, needs, tensors


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


def make_with_generator(device):
    numbers = (number for number in [1, 2, 3, 4])

    def program(x):
        return x * next(numbers)

    return program


def generators(device):
    return [(torch.ones(2, device=device), (number for number in [1, 2, 3]), (number for number in [4, 5]))]


def rest_of_generators(arguments, output):
    return [list(generator) for generator in arguments[1:]]


@needs("graph_breaks", "python_objects")
@clause("aot_autograd.side_effects.state")
def test_two_generators(stack, device):
    """Two generators of the caller's have as much left as in eager."""
    run = stack.run(Program.of(take_from_two_generators, after=rest_of_generators), generators)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=2)
    run.dynamo.operators.expect("""\
mul
add
""")


@needs("recompiles", "graph_breaks", "python_objects")
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
@needs("python_objects")
@clause("aot_autograd.side_effects.state")
def test_generator_of_the_program(stack, device, program, operators):
    """A generator that the program makes and takes from gives it what it gives in eager."""
    run = stack.run(program, tensors((2,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
