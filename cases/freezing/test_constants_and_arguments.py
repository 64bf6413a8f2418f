"""Constants that meet the caller: a buffer that is passed as an argument too, and results of constants alone."""

from functools import partial

import torch
from torch import nn

from conformance import Program, call, clause, needs


class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.arange(4.0) - 1)

    def forward(self, x, y):
        return x + y * self.scale


class OnlyConstants(Scales):
    def forward(self, x):
        return self.scale * 2, self.scale.sum()


def evaluated(device, module_class):
    return module_class().eval().to(device)


def frozen(stack, module_class, calls):
    return stack.run(Program(make=partial(evaluated, module_class=module_class), inference=True), calls)


def adopt(module, tensor):
    module.scale = tensor


def add_to_the_buffer(module):
    module.scale.add_(1)


def own_buffer_then_another(device):
    buffer, ones = torch.arange(4.0, device=device) - 1, torch.ones(4, device=device)
    return [call(buffer, ones, before=partial(adopt, tensor=buffer)), (ones * 3, ones)]


def own_buffer_written_between(device):
    buffer, ones = torch.arange(4.0, device=device) - 1, torch.ones(4, device=device)
    return [call(buffer, ones, before=partial(adopt, tensor=buffer)), call(buffer, ones, before=add_to_the_buffer)]


def two_rows(device):
    return [(torch.ones(4, device=device),), (torch.zeros(4, device=device),)]


@clause("freezing.constants.also_an_argument")
def test_argument_that_is_the_buffer_changes(stack, device):
    """An argument that is the module's own buffer is read in each call, also after it was written to."""
    run = frozen(stack, Scales, own_buffer_written_between)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
mul
add
""")


@needs("freezing", "lowered_graph", "recompiles")
@clause("freezing.constants.also_an_argument")
def test_argument_is_no_constant(stack, device):
    """Compiled for another argument than its buffer, the frozen program reads both, and holds the buffer."""
    run = frozen(stack, Scales, own_buffer_then_another)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.lowered[-1].expect("""\
const0: f32[4]
in0: f32[4]
in1: f32[4]
mul: f32[4] = aten.mul(in0, const0)
add: f32[4] = aten.add(in1, mul)
return (add,)
""")


@clause("freezing.constants.new_results")
def test_results_of_constants_alone(stack, device):
    """Two calls of a program that computes with its buffer alone return tensors of their own."""
    run = frozen(stack, OnlyConstants, two_rows)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
mul
sum
""")
