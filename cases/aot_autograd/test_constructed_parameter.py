"""Parameters that a program builds itself: they are parameters to the caller, and take part in autograd."""

import torch

from conformance import clause, needs, tensors

CAPTURED = {"dynamo.graph_break_on_nn_param_ctor": False}


def add_new_parameter(x):
    return x.sin() + torch.nn.Parameter(torch.ones(1, device=x.device))


def return_new_parameter(x):
    scale = torch.nn.Parameter(torch.full((4,), 2.0, device=x.device))
    return x * scale, scale


def return_frozen_parameter(x):
    scale = torch.nn.Parameter(torch.full((4,), 2.0, device=x.device), requires_grad=False)
    return x * scale, scale


@needs("training")
@clause("aot_autograd.parameters.built_in_program")
def test_sum_with_a_new_parameter(stack, device):
    """What is computed with a parameter built inside the program requires grad, though no input does."""
    run = stack.run(add_new_parameter, tensors((4, 4), device=device), config=CAPTURED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[4, 4]
in1: f32[1]
sin: f32[4, 4] = in0.sin()
ones: f32[1] = ones(1)
tracable_create_parameter: f32[1] = tracable_create_parameter(ones, in1)
add: f32[4, 4] = add(sin, tracable_create_parameter)
return (add,)
""")


@needs("training")
@clause("aot_autograd.parameters.built_in_program")
def test_new_parameter_comes_out(stack, device):
    """A parameter built inside the program comes out as one, a leaf that gets a gradient."""
    run = stack.run(return_new_parameter, tensors((3, 4), device=device, requires_grad=True), config=CAPTURED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3, 4]
in1: f32[4]
full: f32[4] = full((4,), 2.0)
tracable_create_parameter: f32[4] = tracable_create_parameter(full, in1)
mul: f32[3, 4] = mul(in0, tracable_create_parameter)
return (mul,)
""")


@clause("aot_autograd.parameters.built_in_program")
def test_parameter_without_grad_comes_out(stack, device):
    """A parameter built inside the program with requires_grad off comes out as a parameter that requires none."""
    run = stack.run(return_frozen_parameter, tensors((3, 4), device=device), config=CAPTURED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[3, 4]
in1: f32[4]
full: f32[4] = full((4,), 2.0)
tracable_create_parameter: f32[4] = tracable_create_parameter(full, in1)
mul: f32[3, 4] = mul(in0, tracable_create_parameter)
return (mul,)
""")


@needs("graph_breaks", "training")
@clause("aot_autograd.parameters.built_in_program")
def test_parameter_built_outside_the_graphs(stack, device):
    """By default the parameter is built between two graphs, and is the same to the caller."""
    run = stack.run(return_new_parameter, tensors((3, 4), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)
    run.dynamo.expect("""\
full: f32[4] = full((4,), 2.0)
return (full,)

in0: f32[3, 4]
in1: f32[4]
mul: f32[3, 4] = mul(in0, in1)
return (mul,)
""")
