"""Variables that a program rebinds: globals, nonlocal ones, cells of several closures, deleted ones."""

import pytest
import torch

from conformance import Program, clause, expected, needs

COUNT, LAST, PAIR = 0, None, (1, 2)


def rebind_globals(x):
    global COUNT, LAST, PAIR
    COUNT, PAIR = COUNT + 1, PAIR[::-1]
    LAST = x * COUNT
    return LAST + PAIR[0]


def through_globals(x):
    globals()["COUNT"] = COUNT + 2
    return x * COUNT


def double(x):
    return x * 2


def delete_and_make(x):
    global LAST
    LAST = 1
    del LAST
    LAST = double(x)
    return LAST


def make_nonlocal(device):
    total = 0

    def add(x):
        nonlocal total
        total += 1
        return x * total

    def program(x):
        return add(add(x)), total

    return program


def make_shared_cell(device):
    held = 1

    def write(value):
        nonlocal held
        held = value

    def read():
        return held

    def program(x):
        write(read() + 1)
        return x * read()

    program.read = read
    return program


def make_tensor_in_cell(device):
    state = torch.zeros(3, device=device)

    def program(x):
        nonlocal state
        state = state * 2 + x
        return state + 1

    return program


def make_cell_of_loop(device):
    """Closures of a loop share its variable."""

    def program(x):
        functions = [lambda y: y * number for number in (2, 3)]
        bound = [lambda y, n=number: y * n for number in (2, 3)]
        return functions[0](x), bound[0](x)

    return program


def make_returned_closure(device):
    """What comes out counts on."""

    def program(x):
        count = 1

        def counted():
            nonlocal count
            count += 1
            return count

        counted()
        return x * count, counted

    return program


def make_returned_over_tensor(device):
    def program(x):
        y = x * 2

        def read():
            return y + 1

        return y, read

    return program


def make_deleted_cell(device):
    value = 2

    def program(x):
        nonlocal value
        y = double(x) * value
        del value
        value = 5  # noqa: F841
        return y

    def read():
        return value

    program.read = read
    return program


def call_what_comes_out(arguments, outputs):
    return outputs[1](), outputs[1]()


def two_calls(device):
    return [(torch.arange(3.0, device=device),) for _ in range(2)]


def one_call(device):
    return two_calls(device)[:1]


REBOUND = [
    pytest.param(rebind_globals, expected("""mul; add"""), id="globals"),
    pytest.param(through_globals, expected("""mul"""), id="globals_as_dict"),
    pytest.param(delete_and_make, expected("""mul"""), id="deleted_global"),
    pytest.param(Program(make=make_nonlocal), expected("""mul; mul"""), id="nonlocal"),
    pytest.param(Program(make=make_shared_cell), expected("""mul"""), id="shared_cell"),
    pytest.param(Program(make=make_tensor_in_cell), expected("""mul; add; add"""), id="tensor"),
    pytest.param(Program(make=make_cell_of_loop), expected("""mul; mul"""), id="loop"),
    pytest.param(Program(make=make_deleted_cell), expected("""mul; mul"""), id="deleted_cell"),
]
RETURNED = [
    pytest.param(make_returned_closure, expected("""mul"""), id="counts"),
    pytest.param(make_returned_over_tensor, expected("""mul"""), id="over_a_tensor"),
]


@pytest.mark.parametrize(("program", "operators"), REBOUND)
@needs("python_objects")
@clause("python.variables.rebound")
def test_variables_after_two_calls(stack, device, program, operators):
    """What a program binds outside of itself is there for the next call and afterwards, as in eager."""
    run = stack.run(program, two_calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect(operators)


@pytest.mark.parametrize(("make", "operators"), RETURNED)
@needs("python_objects")
@clause("python.variables.rebound")
def test_closure_that_comes_out(stack, device, make, operators):
    """A closure that the program returns goes on from the variables that the program left."""
    run = stack.run(Program(make=make), one_call, after=call_what_comes_out)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
