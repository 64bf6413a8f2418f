"""Strided inputs: tensors whose elements do not lie in the order of their dimensions."""

import torch

from conformance import clause, needs


class TwoLayersBothWays(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(64, 64, num_layers=2, bidirectional=True)

    def forward(self, x):
        return self.lstm(x)


class OneLayer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 3)

    def forward(self, x):
        return self.lstm(x)


def strided(device, steps, batch, features):
    elements = torch.arange(steps * batch * features, device=device) % 7 - 3.0
    return elements.as_strided((steps, batch, features), (1, steps * features, steps))


def large_input(device):
    return [(strided(device, 92, 4, 64),)]


def small_input(device):
    return [(strided(device, 2, 2, 3),)]


def small_input_with_gradient(device):
    return [(strided(device, 2, 2, 3).requires_grad_(),)]


def products(x):
    return x.sum(0) * x[0], x * x.transpose(0, 1)


# Dynamo leaves an LSTM to eager unless it is told otherwise: then nothing would be compiled.
# Where parameters are frozen, they would be constants of the graph.
LSTM = {"dynamo.allow_rnn": True, "inductor.freezing": False}
# For a GPU torch unrolls it up to 2.12, into 368 cells whose kernels are alike. By default inductor looks at 64 pairs of
# each before it knows what to fuse, a third of the minutes that it takes.
LARGE_LSTM = {**LSTM, "inductor.max_fusion_buffer_group_pairwise_attempts": 1}


@clause("aot_autograd.inputs.strided")
def test_lstm(stack, device):
    """A bidirectional LSTM of two layers does with an input of other strides what eager does."""
    run = stack.run(TwoLayersBothWays, large_input, inference=True, config=LARGE_LSTM)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.expect("""\
in0: f32[256, 64]
in1: f32[256, 64]
in2: f32[256]
in3: f32[256]
in4: f32[256, 64]
in5: f32[256, 64]
in6: f32[256]
in7: f32[256]
in8: f32[256, 128]
in9: f32[256, 64]
in10: f32[256]
in11: f32[256]
in12: f32[256, 128]
in13: f32[256, 64]
in14: f32[256]
in15: f32[256]
in16: f32[92, 4, 64](1, 5888, 92)
zeros: f32[4, 4, 64] = zeros(4, 4, 64, dtype=f32)
zeros_1: f32[4, 4, 64] = zeros(4, 4, 64, dtype=f32)
lstm: (f32[92, 4, 128], f32[4, 4, 64], f32[4, 4, 64]) = lstm(in16, (zeros, zeros_1), [in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10, in11, in12, in13, in14, in15], True, 2, 0.0, True, True, False)
getitem: f32[92, 4, 128] = lstm[0]
getitem_1: f32[4, 4, 64] = lstm[1]
getitem_2: f32[4, 4, 64] = lstm[2]
return (getitem, getitem_1, getitem_2)
""")


@needs("training")
@clause("aot_autograd.inputs.strided")
def test_lstm_has_gradients(stack, device):
    """The gradients of an LSTM's parameters for an input of other strides are eager's."""
    run = stack.run(OneLayer, small_input, config=LSTM)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
zeros
zeros
lstm
""")


@needs("training")
@clause("aot_autograd.inputs.strided")
def test_products(stack, device):
    """What is computed from an input of other strides, and its gradient, have eager's values and strides."""
    run = stack.run(products, small_input_with_gradient)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 2, 3](1, 6, 2)
sum: f32[2, 3] = aten.sum(in0, [0])
select: f32[2, 3](6, 2) = aten.select(in0, 0, 0)
mul: f32[2, 3] = aten.mul(sum, select)
transpose: f32[2, 2, 3](6, 1, 2) = aten.transpose(in0, 0, 1)
mul_1: f32[2, 2, 3](1, 6, 2) = aten.mul(in0, transpose)
return (mul, mul_1, in0, sum, select, transpose)
""")
