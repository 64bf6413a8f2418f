"""Functions and methods that a program calls, replaced between calls."""

import pytest
import torch

from conformance import Program, call, clause, expected, needs


def double(x):
    return x * 2


def triple(x):
    return x * 3


CHOICES = {"double": double, "triple": triple}


def make_function(device):
    chosen = [double]

    def program(x):
        return chosen[0](x)

    program.set_to = lambda name: chosen.__setitem__(0, CHOICES[name])
    return program


def make_method_of_class(device):
    class Tool:
        def use(self, x):
            return x * 2

    tool = Tool()

    def program(x):
        return tool.use(x)

    program.set_to = lambda name: setattr(Tool, "use", lambda self, x, run=CHOICES[name]: run(x))
    return program


def make_method_of_instance(device):
    class Tool:
        def use(self, x):
            return x * 2

    tool = Tool()

    def program(x):
        return tool.use(x)

    program.set_to = lambda name: setattr(tool, "use", CHOICES[name])
    return program


def make_static_method(device):
    class Tool:
        use = staticmethod(double)

    def program(x):
        return Tool.use(x)

    program.set_to = lambda name: setattr(Tool, "use", staticmethod(CHOICES[name]))
    return program


def make_special_method(device):
    class Tool:
        def __call__(self, x):
            return x * 2

    tool = Tool()

    def program(x):
        return tool(x)

    program.set_to = lambda name: setattr(Tool, "__call__", lambda self, x, run=CHOICES[name]: run(x))
    return program


def make_operator(device):
    class Factor:
        def __rmul__(self, x):
            return x + 2

    factor = Factor()

    def program(x):
        return factor.__rmul__(x)

    program.set_to = lambda name: setattr(Factor, "__rmul__", lambda self, x, run=CHOICES[name]: run(x))
    return program


class Layer(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Outer(torch.nn.Module):
    """The forward of its layer is replaced on the instance."""

    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        return self.layer(x) + 1

    def set_to(self, name):
        self.layer.forward = CHOICES[name]


def alternating(device):
    x = torch.arange(3.0, device=device)
    steps = [lambda program, name=name: program.set_to(name) for name in ("double", "triple", "double")]
    return [call(x, before=step) for step in steps]


def row(*values, earlier=None, **more):
    """A row, with the text that it has before 2.13 where that is another one."""
    return pytest.param(*values, earlier or values[-1], **more)


FUNCTIONS = [
    row(Program(make=make_function), expected("""identity of chosen[0].__code__"""), id="function"),
    row(
        Program(make=make_method_of_class),
        expected("""identity of dict(type(tool).__dict__)['use'].__defaults__[0].__code__"""),
        id="method",
    ),
    row(
        Program(make=make_method_of_instance),
        expected("""identity of tool.use.__code__"""),
        id="method_of_an_instance",
    ),
    row(
        Program(make=make_static_method),
        expected("""identity of dict(Tool.__dict__)['use'].__func__.__code__"""),
        earlier=expected("""identity of Tool.use.__code__"""),
        id="static_method",
    ),
    row(
        Program(make=make_special_method),
        expected("""identity of dict(type(tool).__dict__)['__call__'].__defaults__[0].__code__"""),
        id="call",
    ),
    row(
        Program(make=make_operator),
        expected("""identity of dict(type(factor).__dict__)['__rmul__'].__defaults__[0].__code__"""),
        id="operator",
    ),
    row(Outer, expected("""identity of self.layer.forward.__code__"""), id="forward_of_a_part"),
]


@pytest.mark.parametrize(("program", "reason", "earlier"), FUNCTIONS)
@needs("recompiles")
@clause("guards.code.function_replaced")
def test_function_is_replaced(stack, device, program, reason, earlier):
    """A call between two others that finds another function under a name compiles once more and runs that one."""
    run = stack.run(program, alternating)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason, since="2.13")
    # Earlier, a static method is found as a program finds it.
    run.recompiles.expect(earlier, until="2.13")
