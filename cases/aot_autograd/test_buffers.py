"""Buffers and running statistics that a module updates while it runs: they end as in eager."""

import pytest
import torch

from conformance import Program, clause, needs, tensors


class Statistics(torch.nn.BatchNorm1d):
    """Mean, variance and the number of batches, by exponential average."""

    def __init__(self):
        super().__init__(3)


class CumulativeStatistics(torch.nn.Module):
    """Without a momentum, mean and variance are averages in which each batch weighs the same."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3, momentum=None)

    def forward(self, x):
        return self.norm(x * 2) * 3


class InstanceStatistics(torch.nn.InstanceNorm1d):
    def __init__(self):
        super().__init__(3, track_running_stats=True)

    def forward(self, x):
        return super().forward(x.unsqueeze(0).expand(2, 4, 3).transpose(1, 2) * 2)


class FrozenStatistics(torch.nn.BatchNorm1d):
    """In evaluation nothing moves."""

    def __init__(self):
        super().__init__(3)
        self.eval()


class WithBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(3.0))
        self.register_buffer("average", torch.ones(3))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))


class MovingAverage(WithBuffer):
    def forward(self, x):
        y = x * self.weight
        with torch.no_grad():
            self.average.mul_(0.5).add_(y[0].detach() * 0.5)
        return y - self.average


class Counter(WithBuffer):
    def forward(self, x):
        self.count += 1
        return x * self.weight * self.count


class NewBuffer(WithBuffer):
    """The buffer is replaced, not written: the old tensor keeps its values."""

    def forward(self, x):
        self.average = self.average + x[0].detach()
        return x * self.weight


class PartOfBuffer(WithBuffer):
    def forward(self, x):
        self.average[1:].copy_(x[0, 1:].detach())
        return x * self.weight


class BufferByData(WithBuffer):
    def forward(self, x):
        self.average.data.add_(2)
        return x * self.weight + self.average


class BufferOut(WithBuffer):
    """What comes out is the buffer itself, and a view of it."""

    def forward(self, x):
        self.average.add_(x[0].detach())
        return x * self.weight, self.average, self.average[:2]


class BufferUsedBeforeTheWrite(WithBuffer):
    """Backward needs the value of before the write, which the program copied."""

    def forward(self, x):
        y = x * self.average.clone()
        self.average.zero_()
        return y


def batches(device):
    """Each batch has a mean and a variance of its own."""
    batch = torch.arange(12.0, device=device).reshape(4, 3)
    return [((batch + shift).requires_grad_(),) for shift in (batch, 7, batch * batch)]


MODULES = [
    pytest.param(Statistics, id="statistics"),
    pytest.param(InstanceStatistics, id="instance_statistics"),
    pytest.param(FrozenStatistics, id="frozen_statistics"),
    pytest.param(MovingAverage, id="moving_average"),
    pytest.param(Counter, id="counter"),
    pytest.param(NewBuffer, id="new_buffer"),
    pytest.param(PartOfBuffer, id="part_of_buffer"),
    pytest.param(BufferByData, id="by_data"),
    pytest.param(BufferOut, id="comes_out"),
]


@needs("module_state")
@pytest.mark.parametrize("module", MODULES)
@clause("aot_autograd.buffers.updated")
def test_buffers_are_updated(stack, device, module):
    """After two calls and a backward, buffers and statistics hold what eager's do, and gradients agree."""
    one = tensors((4, 3), device=device, requires_grad=True)
    run = stack.run(module, one.then(one))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("module_state")
@pytest.mark.parametrize("inference", ["no_grad", "inference_mode"])
@clause("aot_autograd.buffers.updated")
def test_statistics_are_updated_with_gradients_off(stack, device, inference):
    """Statistics in training move with gradients off, too."""
    run = stack.run(Program.of(Statistics, inference=inference), tensors((4, 3), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.add
aten._native_batch_norm_legit_functional
aten.copy_
aten.copy_
aten.copy_
""")


@needs("graph_breaks", "module_state")
@clause("aot_autograd.buffers.updated")
def test_cumulative_statistics_are_updated(stack, device):
    """Statistics in which the number of the batch decides its weight are eager's after three different batches."""
    run = stack.run(CumulativeStatistics, batches)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)
    run.dynamo.operators.expect("""\
mul
mul
""")


@needs("module_state")
@clause("aot_autograd.buffers.value_of_before")
def test_backward_uses_the_value_of_before_the_write(stack, device):
    """The gradient is made of a copy of the buffer that the program took before it wrote to the buffer."""
    run = stack.run(BufferUsedBeforeTheWrite, tensors((4, 3), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3]
in1: f32[4, 3]
clone: f32[3] = aten.clone(in0)
mul: f32[4, 3] = aten.mul(in1, clone)
zero: f32[3] = aten.zero(in0)
copy_(in0, zero)
return (mul, clone)
""")
