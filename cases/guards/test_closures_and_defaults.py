"""Closures and default arguments that a program reads: each call sees what they hold at that call."""

import pytest
import torch

from conformance import Program, call, clause, expected, needs


def closing_over(value):
    """A factory of programs that multiply by what a cell holds."""

    def make(device):
        cell = value

        def program(x):
            return x * (cell if isinstance(cell, (int, float)) else len(cell))

        def set_to(new):
            nonlocal cell
            cell = new

        program.set_to = set_to
        return program

    return make


def make_tensor_cell(device):
    cell = torch.ones(3, device=device)

    def program(x):
        return x + cell

    def set_to(values):
        nonlocal cell
        cell = torch.tensor(values, device=device)

    program.set_to = set_to
    return program


def make_shared_cell(device):
    """The cell belongs to a function that the program calls."""
    cell = 2

    def scale(x):
        return x * cell

    def program(x):
        return scale(x) + 1

    def set_to(new):
        nonlocal cell
        cell = new

    program.set_to = set_to
    return program


def make_function_cell(device):
    def double(x):
        return x * 2

    def triple(x):
        return x * 3

    chosen = double

    def program(x):
        return chosen(x)

    def set_to(name):
        nonlocal chosen
        chosen = {"double": double, "triple": triple}[name]

    program.set_to = set_to
    return program


def make_default(device):
    def scale(x, factor=2):
        return x * factor

    def program(x):
        return scale(x)

    def set_to(value):
        scale.__defaults__ = (value,)

    program.set_to = set_to
    return program


def make_own_default(device):
    def program(x, factor=2):
        return x * factor

    def set_to(value):
        program.__defaults__ = (value,)

    program.set_to = set_to
    return program


def make_keyword_default(device):
    def scale(x, *, factor=2):
        return x * factor

    def program(x):
        return scale(x)

    def set_to(value):
        scale.__kwdefaults__ = {"factor": value}

    program.set_to = set_to
    return program


def make_growing_default(device):
    """A default that is a list remembers earlier calls."""

    def program(x, seen=[]):
        return x * (1 + len(seen))

    def set_to(values):
        program.__defaults__[0][:] = values

    program.set_to = set_to
    return program


def alternating(first, second):
    def set_to(value):
        return lambda program: program.set_to(value)

    def calls(device):
        return [call(torch.arange(3.0, device=device), before=set_to(value)) for value in (first, second, first)]

    return calls


CELLS = [
    pytest.param(closing_over(2), 2, 3, expected("""cell == 2"""), id="number"),
    pytest.param(closing_over([1]), [1], [1, 2], expected("""len(cell) == 1"""), id="list"),
    pytest.param(closing_over("ab"), "ab", "abc", expected("""cell == 'ab'"""), id="string"),
    pytest.param(
        make_tensor_cell,
        [1.0, 1.0, 1.0],
        [[1.0], [2.0]],
        expected("""rank of cell: expected 1, actual 2"""),
        id="tensor",
    ),
    pytest.param(make_shared_cell, 2, 3, expected("""scale.__closure__[0].cell_contents == 2"""), id="of_a_callee"),
    pytest.param(make_function_cell, "double", "triple", expected("""identity of chosen.__code__"""), id="function"),
]
DEFAULTS = [
    pytest.param(make_default, 2, 3, expected("""scale.__defaults__[0] == 2"""), id="of_a_callee"),
    pytest.param(make_own_default, 2, 3.5, expected("""factor == 2"""), id="of_the_program"),
    pytest.param(make_keyword_default, 2, 3, expected("""scale.__kwdefaults__['factor'] == 2"""), id="keyword_only"),
    pytest.param(make_growing_default, [], [1], expected("""not seen"""), id="list"),
]


@pytest.mark.parametrize(("make", "first", "second", "reason"), CELLS)
@needs("recompiles")
@clause("guards.closures.replaced")
def test_cell_is_replaced(stack, device, make, first, second, reason):
    """A call between two others that finds another value in a cell compiles once more and is right."""
    run = stack.run(Program(make=make), alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize(("make", "first", "second", "reason"), DEFAULTS)
@needs("recompiles")
@clause("guards.defaults.replaced")
def test_default_is_replaced(stack, device, make, first, second, reason):
    """A call between two others that finds another default compiles once more and is right."""
    run = stack.run(Program(make=make), alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
