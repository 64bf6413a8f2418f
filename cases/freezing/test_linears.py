"""Frozen matrix products: of one input by several weights, and of biases that differ in shape."""

import torch

from conformance import clause


class ThreeBiases(torch.nn.Module):
    """Linears that may run as one, with biases of shapes (3,), (1, 3) and (3,)."""

    def __init__(self):
        super().__init__()
        weights = [torch.arange(9.0).reshape(3, 3) % 5 - number for number in range(3)]
        self.w1, self.w2, self.w3 = map(torch.nn.Parameter, weights)
        self.b1 = torch.nn.Parameter(torch.arange(3.0))
        self.b2 = torch.nn.Parameter(torch.arange(3.0).reshape(1, 3) - 5)
        self.b3 = torch.nn.Parameter(torch.arange(3.0) * 7)

    def forward(self, x):
        return torch.addmm(self.b1, x, self.w1), torch.addmm(self.b2, x, self.w2), torch.addmm(self.b3, x, self.w3)


class ThreeProducts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        weights = [torch.arange(100.0).reshape(10, 10) % 7 - number for number in range(3)]
        self.t1, self.t2, self.t3 = map(torch.nn.Parameter, weights)

    def forward(self, x):
        return x @ self.t1, x @ self.t2, x @ self.t3


def three_columns(device):
    return [(torch.arange(9.0, device=device).reshape(3, 3) - 4,)]


def ten_columns(device):
    return [(torch.arange(100.0, device=device).reshape(10, 10) % 9 - 4,)]


@clause("freezing.linear.biases")
def test_biases_of_different_shape(stack, device):
    """Each of three linears of one input keeps its own result, whatever the shape of its bias."""
    run = stack.run(ThreeBiases, three_columns, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3]
in1: f32[3, 3]
in2: f32[3, 3]
in3: f32[1, 3]
in4: f32[3, 3]
in5: f32[3]
in6: f32[3, 3]
addmm: f32[3, 3] = aten.addmm(in0, in2, in1)
addmm_1: f32[3, 3] = aten.addmm(in3, in2, in4)
addmm_2: f32[3, 3] = aten.addmm(in5, in2, in6)
return (addmm, addmm_1, addmm_2)
""")


@clause("freezing.linear.products")
def test_products_of_one_input(stack, device):
    """Three products of one input by three weights have their own results and memory."""
    run = stack.run(ThreeProducts, ten_columns, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[10, 10]
in1: f32[10, 10]
in2: f32[10, 10]
in3: f32[10, 10]
mm: f32[10, 10] = aten.mm(in1, in0)
mm_1: f32[10, 10] = aten.mm(in1, in2)
mm_2: f32[10, 10] = aten.mm(in1, in3)
return (mm, mm_1, mm_2)
""")
