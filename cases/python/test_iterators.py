"""Iterators of the caller's and generators of the program's: where they stand afterwards."""

import itertools

import pytest
import torch

from conformance import clause, expected, needs


def take_one(x, held):
    return x * next(held)


def take_two_of_three(x, held):
    for number in held:
        x = x * number
        if number == 2:
            break
    return x


def use_up(x, held):
    return x * sum(held)


def default_when_empty(x, held):
    for number in held:
        x = x + number
    return x * next(held, 7)


def unpack(x, held):
    first, *rest = held
    return x * first, rest


def search(x, held):
    return x * 2 if 2 in held else x


def stop_iteration_caught(x, held):
    try:
        while True:
            x = x + next(held)
    except StopIteration:
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
    y = x * 2
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


class Counting:
    """An iterator of the user's."""

    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count > 3:
            raise StopIteration
        return self.count


def rest_of(arguments, output):
    return list(arguments[1])


def second_output(arguments, output):
    return list(output[1])


def list_iterator():
    return iter([1, 2, 3])


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


ITERATORS = [
    pytest.param(lambda: iter([1, 2, 3]), id="list"),
    pytest.param(lambda: iter((1, 2, 3)), id="tuple"),
    pytest.param(lambda: iter(range(1, 4)), id="range"),
    pytest.param(lambda: map(abs, [1, 2, 3]), id="map"),
    pytest.param(lambda: itertools.chain([1, 2], [3]), id="chain"),
    pytest.param(lambda: numbers(1, 2, 3), id="generator"),
    pytest.param(Counting, id="own"),
]
USES = [
    pytest.param(take_one, id="one_taken"),
    pytest.param(take_two_of_three, id="left_by_break"),
    pytest.param(use_up, id="used_up"),
    pytest.param(default_when_empty, id="default"),
    pytest.param(unpack, id="unpacked"),
    pytest.param(search, id="searched"),
    pytest.param(stop_iteration_caught, id="stop_iteration"),
]
GENERATORS = [
    pytest.param(generator_half_used, expected("""mul; mul"""), id="half_used"),
    pytest.param(generator_sends, expected("""mul; add"""), id="send"),
    pytest.param(generator_thrown_into, expected("""mul; add"""), id="throw"),
    pytest.param(generator_closed, expected("""mul"""), id="close"),
    pytest.param(generator_returns, expected(""""""), id="return"),
    pytest.param(generator_raises, expected("""mul"""), id="raises"),
    pytest.param(lazy_order, expected("""mul"""), id="lazy"),
    pytest.param(tools, expected("""mul"""), id="itertools"),
    pytest.param(two_of_one, expected("""mul"""), id="shared"),
]


@pytest.mark.parametrize("make", ITERATORS)
@needs("graph_breaks")
@clause("python.iterators.position")
def test_kinds_of_iterators(stack, device, make):
    """An iterator of the caller's from which the program takes two of three has the third left."""
    run = stack.run(take_two_of_three, on(make), after=rest_of)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""\
mul
mul
""")


@pytest.mark.parametrize("program", USES)
@needs("graph_breaks")
@clause("python.iterators.position")
def test_uses_of_an_iterator(stack, device, program):
    """An iterator over a list stands where eager leaves it, however the program takes from it."""
    run = stack.run(program, on(list_iterator), after=rest_of)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect("""mul""")


@pytest.mark.parametrize(("program", "operators"), GENERATORS)
@clause("python.iterators.generators")
def test_generator_of_the_program(stack, device, program, operators):
    """A generator that the program makes and drives does in eager's order what eager's does."""
    run = stack.run(program, on(list))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@needs("graph_breaks")
@clause("python.iterators.generators")
def test_generator_comes_out(stack, device):
    """A generator that the program returns gives eager's values afterwards."""
    run = stack.run(generator_comes_out, on(list), after=second_output)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")
