"""Constants that are shared: a batch norm by two convolutions, a weight by two layers, a buffer with an argument."""

from functools import partial

import torch
from torch import nn

from conformance import Program, call, clause, needs


def batch_norm(channels):
    norm = nn.BatchNorm2d(channels, eps=0.001)
    number = torch.arange(float(channels))
    with torch.no_grad():
        norm.running_mean.copy_(number % 3 - 1)
        norm.running_var.copy_((number % 4 + 0.25) * 0.001)
        norm.weight.copy_(number % 3 - 1.25)
        norm.bias.copy_(number * 2 - 5)
    return norm


class SharedNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other, self.norm = nn.Conv2d(3, 8, 3), nn.Conv2d(3, 8, 3, bias=False), batch_norm(8)

    def forward(self, x, *, shift=0):
        return self.norm(self.one(x)) + self.norm(self.other(x + shift))


class TwoSites(SharedNorm):
    def forward(self, x, *, shift=0):
        return self.norm(self.one(x)), self.norm(self.one(x + 1 + shift))


class TiedWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.decoder = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.decoder.weight = self.embedding.weight

    def forward(self, tokens):
        return self.decoder(self.embedding(tokens) * 2), self.decoder.weight[1:]


class WithBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.arange(4.0))
        self.factor = torch.tensor(3.0)  # no buffer, so that it stays on the CPU

    def forward(self, x):
        return x + self.scale * 2, x * self.factor


def evaluated(device, module_class):
    return module_class().eval().to(device)


def frozen(stack, module_class, calls):
    return stack.run(Program(make=partial(evaluated, module_class=module_class), inference=True), calls)


def image(device):
    return [(torch.randn(2, 3, 6, 6).to(device),)]


def named_image(device):
    return [call(x=torch.randn(2, 3, 6, 6).to(device), shift=1), call(torch.randn(2, 3, 6, 6).to(device), shift=1)]


def tokens(device):
    return [(torch.tensor([[0, 3], [4, 1]], device=device),)]


def adopt(module, tensor):
    module.scale = tensor


def own_buffer_then_another(device):
    buffer = torch.arange(4.0, device=device) - 1
    return [call(buffer, before=partial(adopt, tensor=buffer)), (torch.ones(4, device=device),)]


@clause("freezing.conv_bn.shared_norm")
def test_norm_shared_by_two_convolutions(stack, device):
    """One batch norm after two convolutions is folded into each, or into neither, never into one for both."""
    run = frozen(stack, SharedNorm, image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@clause("freezing.conv_bn.shared_norm")
def test_shared_norm_is_folded_into_both(stack, device):
    """Two convolutions are left, and nothing that a batch norm is made of."""
    run = frozen(stack, SharedNorm, image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("convolution") == 2
    assert run.lowered.absent("sqrt")


@clause("freezing.conv_bn.called_twice")
def test_convolution_at_two_sites(stack, device):
    """A convolution and batch norm whose results at two sites are both returned keep both."""
    run = frozen(stack, TwoSites, image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("recompiles")
@clause("freezing.arguments.keywords")
def test_keyword_arguments(stack, device):
    """A frozen program takes its input by name and by position, with a keyword that is a number."""
    run = frozen(stack, SharedNorm, named_image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.recompiles.expect("""(no recompile)""")


@needs("module_state")
@clause("freezing.constants.tied")
def test_tied_weights(stack, device):
    """A weight of two layers is one constant, and a returned view of it is of the parameter's own memory."""
    run = frozen(stack, TiedWeights, tokens)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
embedding
mul
linear
""")


@needs("freezing", "lowered_graph", "module_state")
@clause("freezing.constants.tied")
def test_tied_weight_stays_the_parameter(stack, device):
    """The frozen graph views the parameter itself for what it returns of it, and copies no part of it."""
    run = frozen(stack, TiedWeights, tokens)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.absent("clone")
    assert "const" not in run.lowered.text
    run.lowered.expect(
        """\
in0: f32[5, 4]
in1: i64[2, 2]
embedding: f32[2, 2, 4] = aten.embedding(in0, in1)
mul: f32[2, 2, 4] = aten.mul(embedding, 2)
reshape: f32[4, 4] = aten.reshape(mul, [4, 4])
permute: f32[4, 5](1, 4) = aten.permute(in0, [1, 0])
mm: f32[4, 5] = aten.mm(reshape, permute)
reshape_1: f32[2, 2, 5] = aten.reshape(mm, [2, 2, 5])
slice: f32[4, 4] = aten.slice(in0, 0, 1, max)
return (reshape_1, slice)
""",
        device="cpu",
    )


@needs("recompiles")
@clause("freezing.constants.also_an_argument")
def test_buffer_that_is_an_argument_too(stack, device):
    """A program called with its own buffer, and then with another tensor, uses the one that each call gives."""
    run = frozen(stack, WithBuffer, own_buffer_then_another)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""self.scale is x""")
