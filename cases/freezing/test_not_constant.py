"""What looks constant and is not: random numbers, symbolic sizes, a batch norm with nothing to fold into."""

import torch

from conformance import clause, needs, tensors


def two_draws(x):
    return torch.rand(4, 4, device=x.device) + 1, torch.rand(4, 4, device=x.device) + x


def cosine_and_zeros(a):
    return a.cos(), torch.zeros(a.shape[0], a.shape[1], device=a.device)


class NormAlone(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(32, eps=0.001)
        number = torch.arange(32.0)
        with torch.no_grad():
            self.norm.running_mean.copy_(number % 5 - 2)
            self.norm.running_var.copy_((number % 4 + 0.5) * 0.001)
            self.norm.weight.copy_(number % 3 - 1.25)
        self.eval()

    def forward(self, x):
        return self.norm(x) + 10


def image(device):
    return [(torch.randn(3, 32, 15, 15).to(device),)]


@clause("freezing.folding.random")
def test_random_numbers_follow_the_seed(stack, device):
    """Two draws of one program differ from each other and are those that eager draws from the same seed."""
    calls = tensors((1,), device=device).then(tensors((1,), device=device))
    run = stack.run(two_draws, calls, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.rand
aten.add
aten.rand
aten.add
""")


@needs("freezing", "lowered_graph")
@clause("freezing.folding.random")
def test_random_operators_stay(stack, device):
    """The frozen graph still draws both times."""
    run = stack.run(two_draws, tensors((1,), device=device), inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("rand") == 2
    run.forward.operators.expect("""\
aten.rand
aten.add
aten.rand
aten.add
""")


@needs("dynamic_shapes")
@clause("freezing.folding.symbolic_sizes")
def test_symbolic_sizes_follow_the_input(stack, device):
    """Zeros of symbolic sizes have the second call's sizes without a second compile."""
    calls = tensors((2, 4, 6), device=device).then(tensors((3, 5, 6), device=device))
    run = stack.run(cosine_and_zeros, calls, inference=True, dynamic=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.cos
aten.zeros
""")


@needs("dynamic_shapes", "freezing", "lowered_graph")
@clause("freezing.folding.symbolic_sizes")
def test_symbolic_sizes_stay_symbolic(stack, device):
    """The frozen graph makes the zeros from its symbolic sizes and holds no constant."""
    calls = tensors((2, 4, 6), device=device).then(tensors((3, 5, 6), device=device))
    run = stack.run(cosine_and_zeros, calls, inference=True, dynamic=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert "const" not in run.lowered.text
    run.lowered.expect("""\
in0: s0
in1: s1
in2: s2
in3: f32[s0, s1, s2]
cos: f32[s0, s1, s2] = aten.cos(in3)
full: f32[s0, s1] = aten.full([in0, in1], 0, dtype=f32)
return (cos, full)
""")


@clause("freezing.conv_bn.norm_alone")
def test_norm_with_nothing_to_fold_into(stack, device):
    """A frozen batch norm without a convolution before it agrees with eager."""
    run = stack.run(NormAlone, image, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
batch_norm
add
""")


@needs("training")
@clause("freezing.conv_bn.norm_alone")
def test_norm_with_gradients(stack, device):
    """A batch norm without a convolution before it agrees with eager, with gradients, which nothing is frozen for."""
    run = stack.run(NormAlone, image)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
batch_norm
add
""")
