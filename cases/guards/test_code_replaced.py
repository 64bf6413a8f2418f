"""Code of functions that a program calls, replaced between calls."""

import functools

import pytest
import torch

from conformance import Program, call, clause, needs


def double(x):
    return x * 2


def triple(x):
    return x * 3


CHOICES = {"double": double, "triple": triple}


def made_from(source):
    """A fresh function, so that replacing its code changes no other side's."""
    return type(source)(source.__code__, globals(), source.__name__)


def make_code_of_a_callee(device):
    callee = made_from(double)

    def program(x):
        return callee(x)

    program.set_to = lambda name: setattr(callee, "__code__", CHOICES[name].__code__)
    return program


def make_code_of_a_static_method(device):
    class Tool:
        use = staticmethod(made_from(double))

    tool = Tool()

    def program(x):
        return tool.use(x)

    program.set_to = lambda name: setattr(Tool.use, "__code__", CHOICES[name].__code__)
    return program


def make_code_of_a_method(device):
    class Tool:
        use = type(double)((lambda self, x: x * 2).__code__, globals(), "use")

    tool = Tool()

    def program(x):
        return tool.use(x)

    others = {"double": (lambda self, x: x * 2), "triple": (lambda self, x: x * 3)}
    program.set_to = lambda name: setattr(Tool.use, "__code__", others[name].__code__)
    return program


def make_code_behind_a_partial(device):
    callee = made_from(double)
    bound = functools.partial(callee)

    def program(x):
        return bound(x)

    program.set_to = lambda name: setattr(callee, "__code__", CHOICES[name].__code__)
    return program


def alternating(device):
    x = torch.arange(3.0, device=device)
    steps = [lambda program, name=name: program.set_to(name) for name in ("double", "triple", "double")]
    return [call(x, before=step) for step in steps]


CODES = [
    pytest.param(make_code_of_a_callee, id="callee"),
    pytest.param(make_code_of_a_method, id="method"),
    pytest.param(make_code_of_a_static_method, id="static_method"),
    pytest.param(make_code_behind_a_partial, id="partial"),
]


@pytest.mark.parametrize("make", CODES)
@needs("recompiles")
@clause("guards.code.code_replaced")
def test_code_is_replaced(stack, device, make):
    """A call between two others that finds a function with other code compiles once more and runs the new code."""
    run = stack.run(Program(make=make), alternating)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.dynamo.operators.expect("""\
mul
mul
""")
