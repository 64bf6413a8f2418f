"""Grad mode and requires_grad: what the program changes, and what it is compiled for."""

import torch

from conformance import clause, needs, tensors


def turn_grad_off(x):
    y = x * x
    torch.set_grad_enabled(False)
    return y.clone(), y


def add(x, y):
    return x + y


def set_other_memory(x):
    x.set_(torch.ones(2))
    return x


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


@clause("aot_autograd.errors.set_on_leaf")
def test_set_on_a_leaf_raises(stack, device):
    """Giving a leaf that requires grad other memory raises as it does in eager."""
    run = stack.run(set_other_memory, tensors((2,), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=1)
    run.eager_error.expect(
        """RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."""
    )
