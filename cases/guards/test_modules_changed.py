"""Modules that a program runs: their mode and their parts, changed between calls."""

import pytest
import torch

from conformance import call, clause, expected, needs


class Net(torch.nn.Module):
    """Two scalings, of which the second may be tied to the first, and what drops everything in training."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Scale(2.0), Scale(3.0)
        self.drop = Drop()
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.drop(self.second(self.first(x)) + self.shift)


class Drop(torch.nn.Module):
    def forward(self, x):
        return x * 0 if self.training else x


class Scale(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3,), factor))

    def forward(self, x):
        return x * self.weight


class Add(Scale):
    def forward(self, x):
        return x + self.weight


class Chain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Scale(2.0)])
        self.register_module("optional", None)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x if self.optional is None else self.optional(x)


def nothing(net):
    net.eval()


def train(net):
    net.train()


def train_a_part(net):
    net.eval()
    net.drop.train()


def eval_a_part(net):
    net.train()
    net.drop.eval()


def like(net, *shape):
    return torch.full(shape, 5.0, device=net.shift.device)


def usual_parts(net):
    net.eval()
    net.second = Scale(3.0).to(net.shift.device)


def other_parts(net):
    net.second = Add(3.0).to(net.shift.device)


def one_layer(chain):
    chain.layers = chain.layers[:1]


def two_layers(chain):
    chain.layers.append(Scale(3.0).to(chain.layers[0].weight.device))


def no_option(chain):
    chain.optional = None


def an_option(chain):
    chain.optional = Scale(3.0).to(chain.layers[0].weight.device)


def nothing_in_front(net):
    usual_parts(net)
    for name in ("second", "shift"):
        net.__dict__.pop(name, None)


def in_front(name, make):
    """Puts an attribute of the instance in front of what the module has registered, as eager finds it first."""

    def step(net):
        object.__setattr__(net, name, make().to(net.first.weight.device))

    return step


SHADOWED = [
    pytest.param(in_front("second", lambda: Scale(5.0)), id="submodule"),
    pytest.param(in_front("shift", lambda: torch.full((3,), 5.0)), id="buffer"),
]


def alternating(first, second):
    def calls(device):
        x = torch.arange(3.0, device=device, requires_grad=True)
        return [call(x, before=step) for step in (first, second, first)]

    return calls


def changes(*rows):
    return pytest.mark.parametrize(("module", "first", "second", "reason"), rows)


MODES = changes(
    pytest.param(Net, nothing, train, expected("""self.drop.training == False"""), id="whole"),
    pytest.param(Net, nothing, train_a_part, expected("""self.drop.training == False"""), id="part_to_train"),
    pytest.param(Net, train, eval_a_part, expected("""self.drop.training == True"""), id="part_to_eval"),
)
PARTS = changes(
    pytest.param(Net, usual_parts, other_parts, expected("""type of self.second"""), id="of_another_class"),
    pytest.param(Chain, one_layer, two_layers, expected("""len(self.layers._modules) != 1"""), id="one_more"),
    pytest.param(Chain, no_option, an_option, expected("""self.optional is None"""), id="none_to_module"),
)


@MODES
@needs("recompiles", "module_state")
@clause("guards.modules.mode")
def test_mode(stack, device, module, first, second, reason):
    """A call in another mode, of the module or of a part, compiles once more and is right."""
    run = stack.run(module, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@PARTS
@needs("recompiles", "module_state")
@clause("guards.modules.parts_replaced")
def test_replaced_part(stack, device, module, first, second, reason):
    """A call after a submodule was replaced, added or removed compiles once more and runs those that are there."""
    run = stack.run(module, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@pytest.mark.parametrize("second", SHADOWED)
@needs("recompiles", "module_state")
@clause("guards.modules.parts_replaced")
def test_attribute_in_front_of_a_part(stack, device, second):
    """A call after an attribute of the instance was put in front of a part computes with the attribute."""
    run = stack.run(Net, alternating(nothing_in_front, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
