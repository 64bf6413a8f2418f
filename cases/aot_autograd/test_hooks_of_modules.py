"""Hooks of modules: they run when eager's run, see what eager's see, and change what eager's change."""

from functools import partial

import pytest
import torch

from conformance import Program, call, clause, expected, needs

SEEN = []


class TwoLayers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3, bias=False)
        self.second = torch.nn.Linear(3, 2, bias=False)
        with torch.no_grad():
            self.first.weight.copy_(torch.arange(9.0).reshape(3, 3))
            self.second.weight.copy_(torch.arange(6.0).reshape(2, 3))

    def forward(self, x):
        return self.second(self.first(x) * 2)


def record(module, incoming, outgoing):
    SEEN.append([gradient.clone() for gradient in (*incoming, *outgoing)])


def triple(module, incoming, outgoing):
    return tuple(gradient * 3 for gradient in incoming)


def record_first(module, outgoing):
    SEEN.append([gradient.clone() for gradient in outgoing])


def triple_first(module, outgoing):
    return tuple(gradient * 3 for gradient in outgoing)


def double_output(module, arguments, output):
    return output * 2


def double_input(module, arguments):
    return tuple(argument * 2 for argument in arguments)


def hooked(device, register, hook, inner=False):
    """The module with a hook, on itself or on its first layer."""
    module = TwoLayers().to(device)
    getattr(module.first if inner else module, register)(hook)
    return module


def plain(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3).requires_grad_(),)]


def hook_after_the_first_call(device):
    """The compiled module is called without the hook, then with it."""
    (first,), (second,) = plain(device) + plain(device)
    return [(first,), call(second, before=hook_first_layer)]


def hook_first_layer(module):
    module.first.register_full_backward_hook(triple)


def seen(arguments, outputs):
    return list(SEEN)


BACKWARD_HOOKS = [
    pytest.param("register_full_backward_hook", record, id="record"),
    pytest.param("register_full_backward_hook", triple, id="change"),
    pytest.param("register_full_backward_pre_hook", record_first, id="record_before"),
    pytest.param("register_full_backward_pre_hook", triple_first, id="change_before"),
]


@pytest.mark.parametrize(("register", "hook"), BACKWARD_HOOKS)
@clause("aot_autograd.hooks.fire")
def test_backward_hooks_of_the_module(stack, device, register, hook):
    """A backward hook of the compiled module runs once and sees and changes the gradients as in eager."""
    make = partial(hooked, register=register, hook=hook)
    run = stack.run(Program(make=make, after=seen), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
linear
mul
linear
""")


@pytest.mark.parametrize(("register", "hook"), BACKWARD_HOOKS)
@needs("graph_breaks")
@clause("aot_autograd.hooks.fire")
def test_backward_hooks_of_a_layer(stack, device, register, hook):
    """A backward hook of a layer inside the compiled module runs once and sees and changes the gradients as in eager."""
    make = partial(hooked, register=register, hook=hook, inner=True)
    run = stack.run(Program(make=make, after=seen), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.dynamo.operators.expect("""\
mul
linear
""")


@pytest.mark.parametrize(
    ("register", "hook", "operators"),
    [
        pytest.param("register_forward_hook", double_output, expected("""linear; mul; mul; linear"""), id="forward"),
        pytest.param(
            "register_forward_pre_hook", double_input, expected("""mul; linear; mul; linear"""), id="forward_pre"
        ),
    ],
)
@clause("aot_autograd.hooks.fire")
def test_forward_hooks_of_a_layer(stack, device, register, hook, operators):
    """A forward hook of a layer inside the compiled module changes what goes in or comes out as in eager."""
    make = partial(hooked, register=register, hook=hook, inner=True)
    run = stack.run(Program(make=make), plain)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@needs("recompiles", "graph_breaks")
@clause("aot_autograd.hooks.fire")
def test_backward_hook_between_calls(stack, device):
    """A backward hook that a layer gets after the first call changes the gradients of the second."""
    run = stack.run(TwoLayers, hook_after_the_first_call)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1, graph_breaks=1)
    run.dynamo.operators.expect("""\
linear
mul
linear
mul
linear
""")
