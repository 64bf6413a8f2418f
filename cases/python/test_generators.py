"""Generators that a program makes: half used, sent to, thrown into, closed, returned."""

import itertools

import pytest
import torch

from conformance import clause, expected, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


def numbers(*values):
    yield from values


def generator_half_used(x, held):
    made = numbers(2, 3, 4)
    return x * next(made) * next(made), list(made)


def generator_sends(x, held):
    def echo():
        received = yield 1
        while received is not None:
            received = yield received * 2

    made = echo()
    next(made)
    return x * made.send(3) + made.send(4)


def generator_thrown_into(x, held):
    def catching():
        try:
            yield 1
        except KeyError:
            held.append("caught")
            yield 5

    made = catching()
    return x * next(made) + made.throw(KeyError("in"))


def generator_closed(x, held):
    def finishing():
        try:
            yield 2
            yield 3
        finally:
            held.append("closed")

    made = finishing()
    y = x * next(made)
    made.close()
    held.append("after")
    return y


def generator_returns(x, held):
    def inner():
        yield 1
        return 5

    def outer():
        held.append((yield from inner()))

    return x * sum(outer())


def generator_raises(x, held):
    def raising():
        yield 1
        raise ValueError("inside")

    made = raising()
    try:
        for number in made:
            x = x * (number + 1)
    except ValueError as error:
        held.append(str(error))
    return x, list(made)


def generator_comes_out(x, held):
    y = double(x)
    return y, (y + number for number in (1, 2))


def lazy_order(x, held):
    """Each element is made when it is asked for."""

    def noting(number):
        held.append(number)
        return number

    made = map(noting, [1, 2, 3])
    held.append("before")
    return x * next(made)


def tools(x, held):
    pairs = list(zip(itertools.count(1), "ab"))
    chained = list(itertools.chain([1], (n for n in (2, 3))))
    groups = [(key, list(group)) for key, group in itertools.groupby([1, 1, 2])]
    return x * sum(chained), pairs, groups, list(itertools.islice(itertools.cycle([1, 2]), 3))


def two_of_one(x, held):
    """Two iterations of one iterator share its position."""
    made = iter([1, 2, 3, 4])
    return x * 2, [(a, b) for a, b in zip(made, made)]


def second_output(arguments, output):
    return list(output[1])


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


GENERATORS = [
    pytest.param(generator_half_used, expected("""mul; mul"""), id="half_used"),
    pytest.param(generator_sends, expected("""mul; add"""), id="send"),
    pytest.param(generator_thrown_into, expected("""mul; add"""), id="throw"),
    pytest.param(generator_closed, expected("""mul"""), id="close"),
    pytest.param(generator_returns, expected("""mul"""), id="return"),
    pytest.param(generator_raises, expected("""mul"""), id="raises"),
    pytest.param(lazy_order, expected("""mul"""), id="lazy"),
    pytest.param(tools, expected("""mul"""), id="itertools"),
    pytest.param(two_of_one, expected("""mul"""), id="shared"),
]


@pytest.mark.parametrize(("program", "operators"), GENERATORS)
@needs("python_objects")
@clause("python.iterators.generators")
def test_generator_of_the_program(stack, device, program, operators):
    """A generator that the program makes and drives does in eager's order what eager's does."""
    run = stack.run(program, on(list))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@needs("graph_breaks", "python_objects")
@clause("python.iterators.generators")
def test_generator_comes_out(stack, device):
    """A generator that the program returns gives eager's values afterwards."""
    run = stack.run(generator_comes_out, on(list), after=second_output)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")
