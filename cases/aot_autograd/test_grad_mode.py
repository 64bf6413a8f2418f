"""Grad mode and requires_grad: what the program changes, and what it is compiled for."""

import torch

from conformance import clause, needs, tensors


def turn_grad_off(x):
    y = x * x
    torch.set_grad_enabled(False)
    return y.clone(), y


def restore_grad_mode(parameter, y):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    parameter.add_(y)
    unseen = parameter * 2
    torch.set_grad_enabled(before)
    return y, unseen, parameter * y


def add(x, y):
    return x + y


def parameter_and_tensor(device):
    return [(torch.nn.Parameter(torch.arange(4.0, device=device)), torch.ones(4, device=device))]


def set_other_memory(x):
    x.set_(torch.ones(2))
    return x


@needs("training", "input_mutation")
@clause("aot_autograd.grad_mode.restored")
def test_grad_mode_is_restored(stack, device):
    """Grad mode that the program turned off and on again is on after the call, and what was computed then has gradients."""
    run = stack.run(restore_grad_mode, parameter_and_tensor)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[4]
in1: f32[4]
add: f32[4] = aten.add(in0, in1)
mul: f32[4] = aten.mul(add, 2)
mul_1: f32[4] = aten.mul(add, in1)
copy_(in0, add)
return (mul, mul_1, in1)
""")
    run.backward.expect("""\
in0: f32[4]
in1: f32[4]
mul: f32[4] = aten.mul(in1, in0)
return (mul, None)
""")


@clause("aot_autograd.grad_mode.change_outlives_call")
def test_grad_mode_change_outlives_the_call(stack, device):
    """Grad mode that the program turned off is off after the call, and each output has the history it has in eager."""
    run = stack.run(turn_grad_off, tensors((2, 2), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 2]
mul: f32[2, 2] = aten.mul(in0, in0)
clone: f32[2, 2] = aten.clone(mul)
return (clone, mul, in0)
""")


@needs("recompiles")
@clause("aot_autograd.guards.requires_grad")
def test_requires_grad_is_guarded(stack, device):
    """A call whose argument no longer requires grad compiles once more, for that reason."""
    first = tensors((3,), (3,), device=device, requires_grad=[False, True])
    run = stack.run(add, first.then(tensors((3,), (3,), device=device)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""requires_grad of y: expected True, actual False""")


@needs("recompiles")
@clause("aot_autograd.guards.requires_grad")
def test_equal_calls_compile_once(stack, device):
    """Two calls that agree in requires_grad compile once."""
    one = tensors((3,), (3,), device=device)
    run = stack.run(add, one.then(one))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3]
in1: f32[3]
add: f32[3] = add(in0, in1)
return (add,)
""")


@needs("graph_breaks")
@clause("aot_autograd.errors.set_on_leaf")
def test_set_on_a_leaf_raises(stack, device):
    """Giving a leaf that requires grad other memory raises as it does in eager."""
    run = stack.run(set_other_memory, tensors((2,), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.eager_error.expect(
        """RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."""
    )
