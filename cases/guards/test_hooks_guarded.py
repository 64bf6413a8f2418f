"""Hooks of modules, registered and removed between calls, where hooks are guarded."""

import pytest
import torch

from conformance import call, clause, expected, needs

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


def add_to_output(module, arguments, output):
    return output + 1


def double_input(module, arguments):
    return tuple(argument * 2 for argument in arguments)


def double_keywords(module, arguments, keywords):
    return tuple(argument * 2 for argument in arguments), keywords


def triple_gradient(module, *gradients):
    return tuple(gradient * 3 for gradient in gradients[0])


def on_layer(register, hook, **options):
    """Steps that put a hook on the layer and take it off again."""

    def put(net):
        net.handle = getattr(net.layer, register)(hook, **options)

    return put


def take_off(net):
    handle = net.__dict__.pop("handle", None)
    getattr(handle, "remove", int)()


def two_hooks(prepend):
    """Whether one doubles before the other adds."""

    def put(net):
        net.layer._forward_hooks.clear()
        net.layer.register_forward_hook(double_output)
        net.layer.register_forward_hook(add_to_output, prepend=prepend)

    return put


def alternating(first, second, last):
    def calls(device):
        x = torch.tensor([[1.0, -2.0]], device=device, requires_grad=True)
        return [call(x, before=step) for step in (first, second, last)]

    return calls


FORWARD = pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        pytest.param(
            take_off,
            on_layer("register_forward_hook", double_output),
            expected("""not self.layer._forward_hooks"""),
            id="forward",
        ),
        pytest.param(
            take_off,
            on_layer("register_forward_pre_hook", double_input),
            expected("""not self.layer._forward_pre_hooks"""),
            id="pre",
        ),
        pytest.param(
            take_off,
            on_layer("register_forward_pre_hook", double_keywords, with_kwargs=True),
            expected("""not self.layer._forward_pre_hooks"""),
            id="with_keywords",
        ),
        pytest.param(
            two_hooks(False),
            two_hooks(True),
            expected("""list(self.layer._forward_hooks.keys())"""),
            id="order",
        ),
    ],
)

BACKWARD = pytest.mark.parametrize(
    ("second", "reason"),
    [
        pytest.param(
            on_layer("register_full_backward_hook", triple_gradient),
            expected("""not self.layer._backward_hooks"""),
            id="backward",
        ),
        pytest.param(
            on_layer("register_full_backward_pre_hook", triple_gradient),
            expected("""not self.layer._backward_pre_hooks"""),
            id="pre",
        ),
    ],
)


@FORWARD
@needs("recompiles", "module_state")
@clause("guards.hooks.guarded")
def test_forward_hook_comes_and_goes(stack, device, first, second, reason):
    """With hooks guarded, a forward hook that is there, or comes first, in one call alone does so in that call alone."""
    run = stack.run(Net, alternating(first, second, first), config=GUARDED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@BACKWARD
@needs("recompiles", "module_state", "training", "graph_breaks")
@clause("guards.hooks.guarded")
def test_backward_hook_comes_and_goes(stack, device, second, reason):
    """With hooks guarded, a backward hook, which breaks the graph, runs for the one call that it is there for."""
    run = stack.run(Net, alternating(take_off, second, take_off), config=GUARDED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=1, graph_breaks=1)
    run.recompiles.expect(reason)
