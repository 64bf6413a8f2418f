"""A tensor that the module already holds, passed as an argument too; a list passed under two names."""

import pytest
import torch

from conformance import call, clause, needs


class Held(torch.nn.Module):
    def forward(self, x):
        self.state.mul_(2)
        x.add_(1)
        return self.state + x


class AsBuffer(Held):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.arange(3.0))


class AsAttribute(Held):
    def __init__(self):
        super().__init__()
        self.state = torch.arange(3.0)


class AsParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x, w):
        return self.state * x + w


class Updated(AsParameter):
    def forward(self, x, w):
        with torch.no_grad():
            self.state.mul_(2)
        return x * w


HOLDERS = pytest.mark.parametrize("holder", [AsBuffer, AsAttribute], ids=["buffer", "attribute"])


def grow(left, right, x):
    left.append(x + 1)
    right.append(x - 1)
    return left, right


def hold(tensor):
    def before(module):
        module.state = tensor

    return before


def three(device):
    return (torch.arange(3.0, device=device) + start for start in range(3))


def held_then_another(device):
    a, b, c = three(device)
    return [call(a, before=hold(a)), call(b, before=hold(c))]


def another_then_held(device):
    a, b, c = three(device)
    return [call(b, before=hold(c)), call(a, before=hold(a))]


def own_then_another(device):
    a, b, c = (torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0], device=device) * by) for by in (1, 2, 3))
    x, y, _ = three(device)
    return [call(x, a, before=hold(a)), call(y, b, before=hold(c))]


def another_then_own(device):
    return own_then_another(device)[::-1]


def same_list_then_two(device):
    x, y, _ = three(device)
    same = []
    return [(same, same, x), ([], [], y)]


def two_lists_then_the_same(device):
    x, y, _ = three(device)
    same = []
    return [([], [], x), (same, same, y)]


@HOLDERS
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers")
def test_held_tensor_then_another(stack, device, holder):
    """The module's own tensor as argument and then another one compile twice, for that reason."""
    run = stack.run(holder, held_then_another)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""self.state is x""")


@HOLDERS
@needs("recompiles", "input_mutation")
@clause("duplicate_arguments.guards.in_containers_become_one")
def test_another_tensor_then_the_held_one(stack, device, holder):
    """Another tensor and then the module's own as argument compile twice, for that reason."""
    run = stack.run(holder, another_then_held)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""x is not self.state""")


@needs("recompiles", "training")
@clause("duplicate_arguments.parameters.untied")
def test_own_parameter_then_another(stack, device):
    """The module's own parameter as argument and then another one compile twice, for that reason."""
    run = stack.run(AsParameter, own_then_another)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""self.state is w""")
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
mul: f32[3] = mul(in0, in1)
add: f32[3] = add(mul, in0)
return (add,)

in0: f32[3]
in1: f32[3]
in2: f32[3]
mul: f32[3] = mul(in0, in1)
add: f32[3] = add(mul, in2)
return (add,)
""")


@needs("training")
@clause("duplicate_arguments.parameters.shared_later")
def test_another_parameter_then_the_own_one(stack, device):
    """Another parameter and then the module's own as argument have eager's values and gradients."""
    run = stack.run(AsParameter, another_then_own)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")


@needs("recompiles", "input_mutation", "training")
@clause("duplicate_arguments.parameters.updated")
def test_another_parameter_then_the_own_one_updated(stack, device):
    """Where the module updates its parameter, another one and then its own as argument compile twice."""
    run = stack.run(Updated, another_then_own)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.dynamo.operators.expect("""\
set_grad_enabled
mul_
set_grad_enabled
mul
set_grad_enabled
mul_
set_grad_enabled
mul
""")


@needs("recompiles")
@clause("duplicate_arguments.guards.container_passed_twice")
def test_same_list_then_two_lists(stack, device):
    """One list that grows under two names, and then two lists, compile twice, for that reason."""
    run = stack.run(grow, same_list_then_two)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""left is right""")


@needs("recompiles")
@clause("duplicate_arguments.guards.container_passed_twice")
def test_two_lists_then_the_same_list(stack, device):
    """Two lists, and then one list that grows under two names, compile twice, for that reason."""
    run = stack.run(grow, two_lists_then_the_same)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""left is not right""")
