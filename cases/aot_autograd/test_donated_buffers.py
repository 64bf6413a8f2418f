"""Donated buffers: memory that a backward may reuse never shows in a result, or the backward refuses to run twice."""

import pytest
import torch

from conformance import clause, needs

DONATED = {"functorch.donated_buffer": True}
KEPT = {"functorch.donated_buffer": False}


class ReluAndParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(-2.0, 2.0))

    def forward(self, x):
        return torch.relu(x * self.weight) + self.weight


def each_by_itself(outputs):
    for output in outputs:
        output.sum().backward()


def second_retained(outputs):
    """A first backward, which is compiled to reuse its buffers, and then two through one retained graph."""
    first, second = outputs
    first.sum().backward()
    second.sum().backward(retain_graph=True)
    second.sum().backward()


def rows(device, times):
    return [(torch.arange(12.0, device=device).view(3, 4).sub(5 + call).requires_grad_(),) for call in range(times)]


def one_call(device):
    return rows(device, 1)


def two_calls(device):
    return rows(device, 2)


def five_calls(device):
    return rows(device, 5)


@pytest.mark.parametrize("calls", [pytest.param(one_call, id="once"), pytest.param(five_calls, id="five-times")])
@needs("training")
@clause("aot_autograd.donated_buffers.results")
def test_backward_after_calls(stack, device, calls):
    """A buffer that the backward of one call may reuse is no other call's, however many wait for their backward."""
    run = stack.run(ReluAndParameter, calls, config=DONATED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward[0].expect("""\
in0: f32[4]
in1: f32[3, 4]
in2: f32[3, 4]
in3: f32[3, 4]
sum: f32[1, 4] = aten.sum(in3, [0], True)
view: f32[4] = aten.view(sum, [4])
threshold_backward: f32[3, 4] = aten.threshold_backward(in3, in2, 0)
mul: f32[3, 4] = aten.mul(threshold_backward, in1)
mul_1: f32[3, 4] = aten.mul(threshold_backward, in0)
sum_1: f32[1, 4] = aten.sum(mul, [0], True)
view_1: f32[4] = aten.view(sum_1, [4])
add: f32[4] = aten.add(view, view_1)
return (add, mul_1)
""")


@needs("training")
@clause("aot_autograd.donated_buffers.results")
def test_backward_five_times(stack, device):
    """A backward that reuses its buffers gives eager's gradients each time that it is run."""
    run = stack.run(ReluAndParameter, five_calls, backward=each_by_itself, config=DONATED)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward[0].expect("""\
in0: f32[4]
in1: f32[3, 4]
mul: f32[3, 4] = aten.mul(in1, in0)
relu: f32[3, 4] = aten.relu(mul)
add: f32[3, 4] = aten.add(relu, in0)
return (add, in0, in1, relu)
""")


@needs("training")
@clause("aot_autograd.donated_buffers.retained_graph")
def test_retained_graph_with_donation(stack, device):
    """A backward compiled to reuse its buffers gives eager's gradients through a retained graph, or refuses."""
    run = stack.run(ReluAndParameter, two_calls, backward=second_retained, config=DONATED)

    run.limit.expect("""\
RuntimeError: This backward function was compiled with non-empty donated buffers which requires
create_graph=False and retain_graph=False. Please keep backward(create_graph=False, retain_graph=False) across
all backward() function calls, or set torch._functorch.config.donated_buffer=False to disable donated buffer.
""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0)


@needs("training")
@clause("aot_autograd.donated_buffers.retained_graph")
def test_retained_graph_without_donation(stack, device):
    """With donation off, backward through a retained graph gives eager's gradients each time."""
    run = stack.run(ReluAndParameter, two_calls, backward=second_retained, config=KEPT)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.error.expect("""(nothing raised)""")
