"""Hooks of modules and tensors that are registered between calls, with torch's own settings."""

import pytest
import torch

from conformance import call, clause, needs

GUARDED = {"dynamo.skip_nnmodule_hook_guards": False}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2, bias=False)
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))

    def forward(self, x):
        return self.layer(x)


def double_output(module, arguments, output):
    return output * 2


def double_input(module, arguments):
    return tuple(argument * 2 for argument in arguments)


def triple_gradient(module, *gradients):
    return tuple(gradient * 3 for gradient in gradients[0])


def triple_one(gradient):
    return gradient * 3


def triple_grad(tensor):
    tensor.grad = tensor.grad * 3


def on_layer(register, hook, **options):
    """Steps that put a hook on the layer and take it off again."""

    def put(net):
        net.handle = getattr(net.layer, register)(hook, **options)

    return put


def on_weight(register, hook):
    def put(net):
        net.handle = getattr(net.layer.weight, register)(hook)

    return put


def on_all(register, hook):
    def put(net):
        net.handle = getattr(torch.nn.modules.module, register)(hook)

    return put


def take_off(net):
    handle = net.__dict__.pop("handle", None)
    getattr(handle, "remove", int)()


def double_output_of_linear(module, arguments, output):
    return output * 2 if isinstance(module, torch.nn.Linear) else None


def double_input_of_linear(module, arguments):
    return tuple(argument * 2 for argument in arguments) if isinstance(module, torch.nn.Linear) else None


def net_as_it_is(net):
    return net


def alternating(first, second, last):
    def calls(device):
        x = torch.tensor([[1.0, -2.0]], device=device, requires_grad=True)
        return [call(x, before=step) for step in (first, second, last)]

    return calls


LATER = pytest.mark.parametrize(
    "hook",
    [
        pytest.param(on_layer("register_forward_hook", double_output), id="forward"),
        pytest.param(on_layer("register_forward_pre_hook", double_input), id="forward_pre"),
        pytest.param(on_layer("register_full_backward_hook", triple_gradient), id="backward"),
        pytest.param(on_layer("register_full_backward_pre_hook", triple_gradient), id="backward_pre"),
    ],
)

TENSORS = pytest.mark.parametrize(
    "hook",
    [
        pytest.param(on_weight("register_hook", triple_one), id="parameter"),
        pytest.param(on_weight("register_post_accumulate_grad_hook", triple_grad), id="after_accumulation"),
    ],
)

ALL = pytest.mark.parametrize(
    "hook",
    [
        pytest.param(on_all("register_module_forward_hook", double_output_of_linear), id="forward"),
        pytest.param(on_all("register_module_forward_pre_hook", double_input_of_linear), id="forward_pre"),
    ],
)


@LATER
@needs("recompiles", "module_state", "training")
@clause("guards.hooks.by_default")
def test_hook_is_registered_later(stack, device, hook):
    """A hook that is registered after the first call runs in the next one, with torch's own settings."""
    run = stack.run(Net, alternating(take_off, hook, net_as_it_is))

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=1, graph_breaks=None)
    run.dynamo[:1].operators.expect("""linear""")


@TENSORS
@needs("recompiles", "module_state", "training")
@clause("guards.hooks.of_tensors")
def test_hook_of_a_parameter_comes(stack, device, hook):
    """A hook that a parameter gets between calls runs in the backward, and compiles nothing anew."""
    run = stack.run(Net, alternating(take_off, hook, net_as_it_is))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""linear""")


@ALL
@needs("recompiles", "module_state", "training")
@clause("guards.hooks.of_all_modules")
def test_hook_of_all_modules_comes_and_goes(stack, device, hook):
    """A hook of all modules that is registered for one call and then removed runs in that call alone."""
    run = stack.run(Net, alternating(take_off, hook, take_off), config=GUARDED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None)
    run.dynamo[:1].operators.expect("""linear""")
