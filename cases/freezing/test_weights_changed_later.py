"""Weights that change after the compile: what freezing says of them, and that nothing else is frozen."""

import torch
from torch import nn

from conformance import Program, call, clause, needs

NOT_FROZEN = {"inductor.freezing": False}


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("scale", torch.tensor([2.0, -1.0]))
        self.eval()

    def forward(self, x):
        return self.linear(x) * self.scale


def rows(device):
    return torch.arange(6.0, device=device).reshape(2, 3) - 2


def load_the_same(module):
    module.load_state_dict({name: value.clone() for name, value in module.state_dict().items()})


def load_others(module):
    module.load_state_dict({name: value.clone() + 1 for name, value in module.state_dict().items()})


def double_in_place(module):
    with torch.no_grad():
        module.linear.weight.mul_(2)
        module.scale.add_(3)


def same_weights_later(device):
    return [(rows(device),), call(rows(device), before=load_the_same)]


def other_weights_later(device):
    return [(rows(device),), call(rows(device), before=load_others), call(rows(device), before=double_in_place)]


@clause("freezing.weights.same_values_later")
def test_equal_weights_are_loaded(stack, device):
    """Loading a state of equal values after the compile changes nothing and compiles nothing."""
    run = stack.run(Scaled, same_weights_later, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
in1: f32[2]
in2: f32[2, 3]
in3: f32[2]
t: f32[3, 2](1, 3) = aten.t(in0)
addmm: f32[2, 2] = aten.addmm(in1, in2, t)
mul: f32[2, 2] = aten.mul(addmm, in3)
return (mul,)
""")


@needs("module_state")
@clause("freezing.weights.followed_unfrozen")
def test_weights_are_followed_where_nothing_is_frozen(stack, device):
    """Without freezing each call computes with the weights and buffers that the module has by then."""
    run = stack.run(Program.of(Scaled, inference=True, config=NOT_FROZEN), other_weights_later)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
in1: f32[2]
in2: f32[2, 3]
in3: f32[2]
t: f32[3, 2](1, 3) = aten.t(in0)
addmm: f32[2, 2] = aten.addmm(in1, in2, t)
mul: f32[2, 2] = aten.mul(addmm, in3)
return (mul,)
""")


@needs("freezing", "lowered_graph")
@clause("freezing.weights.frozen_for_good")
def test_frozen_weights_are_no_longer_updated(stack, device):
    """A frozen program goes on with the weights that it was compiled with, as documented, and does not compile again."""
    run = stack.run(Scaled, other_weights_later, inference=True)

    run.assert_matches_eager(
        allowing={
            "calls[1].outputs[0].value": "frozen weights can no longer be updated, says inductor",
            "calls[2].outputs[0].value": "frozen weights can no longer be updated, says inductor",
        }
    )
    run.assert_compiled(graphs=1, recompiles=0)
    assert [found.observable for found in run.comparison.discrepancies] == ["value", "value"]
    assert "const0" in run.lowered.text
    assert "in1" not in run.lowered.text
    run.forward.expect("""\
in0: f32[2, 3]
in1: f32[2]
in2: f32[2, 3]
in3: f32[2]
t: f32[3, 2](1, 3) = aten.t(in0)
addmm: f32[2, 2] = aten.addmm(in1, in2, t)
mul: f32[2, 2] = aten.mul(addmm, in3)
return (mul,)
""")
