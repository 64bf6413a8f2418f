"""Functions that a program calls: partial, bound, decorated and recursive ones run as often as in eager."""

import functools

import pytest
import torch

from conformance import Program, clause, needs


def make_partial(device):
    notes = []

    def scale(x, factor, *, note):
        notes.append(note)
        return x * factor

    bound = functools.partial(functools.partial(scale, factor=3), note="noted")

    def program(x):
        return bound(x), len(notes)

    return program


def make_bound(device):
    class Tool:
        def __init__(self):
            self.used = 0

        def use(self, x):
            self.used += 1
            return x * self.used

    tool = Tool()
    method = tool.use

    def program(x):
        return method(x), Tool.use(tool, 2), tool.used

    return program


def make_decorated(device):
    notes = []

    def noting(text):
        def decorate(function):
            @functools.wraps(function)
            def called(*args, **kwargs):
                notes.append(text)
                return function(*args, **kwargs)

            return called

        return decorate

    @noting("outer")
    @noting("inner")
    def scale(x):
        return x * len(notes)

    def program(x):
        return scale(x), tuple(notes), scale.__name__

    return program


def make_recursive(device):
    depth = []

    def down(n):
        depth.append(n)
        return 1 if n == 0 else n * down(n - 1)

    def program(x):
        return x * down(4), len(depth)

    return program


def make_reduced(device):
    seen = []

    def product(a, b):
        seen.append((a, b))
        return a * b

    def program(x):
        return x * functools.reduce(product, [2, 3, 4]), len(seen)

    return program


def make_short_circuit(device):
    asked = []

    def ask(value):
        asked.append(value)
        return value

    def program(x):
        found = any(ask(value) for value in (0, 1, 1)) and (ask(0) or ask(5))
        return x * found, list(asked)

    return program


def make_dispatched(device):
    @functools.singledispatch
    def factor(value):
        return 2

    @factor.register
    def _(value: str):
        return len(value)

    def program(x):
        return x * factor("abc"), factor(1)

    return program


def make_counting_itself(device):
    def program(x):
        program.calls = getattr(program, "calls", 0) + 1
        return x * 2

    return program


def make_counting_another(device):
    def double(x):
        double.calls = getattr(double, "calls", 0) + 1
        return x * 2

    def program(x):
        return double(x), double.calls

    return program


def two_calls(device):
    return [(torch.arange(3.0, device=device),) for _ in range(2)]


CALLED = [
    make_partial,
    make_bound,
    pytest.param(make_decorated, id="make_decorated"),
    pytest.param(make_recursive, id="make_recursive"),
    pytest.param(make_reduced, id="make_reduced"),
    pytest.param(make_short_circuit, id="make_short_circuit"),
    pytest.param(make_dispatched, id="make_dispatched"),
]


@pytest.mark.parametrize("make", CALLED)
@needs("python_objects")
@clause("python.functions.run")
def test_called(stack, device, make):
    """A function that is reached through others runs as often and in the order as in eager."""
    run = stack.run(Program(make=make), two_calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")


@pytest.mark.parametrize("make", [make_counting_itself, make_counting_another])
@needs("graph_breaks", "python_objects")
@clause("python.objects.attributes")
def test_calls_counted_in_an_attribute(stack, device, make):
    """A function that counts its calls in an attribute of its own has counted each of them."""
    run = stack.run(Program(make=make), two_calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect("""mul""")
