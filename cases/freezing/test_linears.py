"""Frozen matmuls: of one input by several weights, and of biases that differ in shape."""

import pytest
import torch

from conformance import clause, expected, needs

#: Products are computed as one on a GPU; on a CPU where that is asked for.
AS_ONE = {"inductor.freezing": True, "inductor.cpp.enable_concat_linear": True}
#: What slices of one result differ in.
SLICED = {
    f"outputs[{number}].{observable}": "its own clause, freezing.linear.products: this case is about what is computed"
    for number in range(3)
    for observable in ("stride", "storage_offset", "storage_sharing")
}


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


class ThreeSums(ThreeProducts):
    """Products that are added to biases of one shape, so that they may run as one as well."""

    def __init__(self):
        super().__init__()
        biases = [torch.arange(10.0) * number for number in range(1, 4)]
        self.b1, self.b2, self.b3 = map(torch.nn.Parameter, biases)

    def forward(self, x):
        return torch.addmm(self.b1, x, self.t1), torch.addmm(self.b2, x, self.t2), torch.addmm(self.b3, x, self.t3)


def three_columns(device):
    return [(torch.arange(9.0, device=device).reshape(3, 3) - 4,)]


def ten_columns(device):
    return [(torch.arange(100.0, device=device).reshape(10, 10) % 9 - 4,)]


def products(graph):
    """The matmuls in a graph, by the names that libraries give them."""
    return [op for op in graph.ops if op.endswith(("mm", "linear", "linear_pointwise"))]


every_product = pytest.mark.parametrize(
    ("module_class", "text"),
    [
        pytest.param(ThreeProducts, expected("""aten.mm; aten.mm; aten.mm"""), id="ThreeProducts"),
        pytest.param(ThreeSums, expected("""aten.addmm; aten.addmm; aten.addmm"""), id="ThreeSums"),
    ],
)


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


@needs("freezing", "lowered_graph")
@clause("freezing.linear.biases")
def test_biases_of_different_shape_are_not_joined(stack, device):
    """Where matmuls may be computed as one, three whose biases differ in shape stay three."""
    run = stack.run(ThreeBiases, three_columns, inference=True, config=AS_ONE)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert len(products(run.lowered[0])) == 3
    assert run.lowered.absent("cat")
    assert "f32[1, 3]" in run.lowered.text
    assert "in1" not in run.lowered.text
    run.forward.operators.expect("""\
aten.addmm
aten.addmm
aten.addmm
""")


@clause("freezing.linear.products")
def test_products_of_one_input(stack, device):
    """Three matmuls of one input by three weights have their own results and memory."""
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


@needs("freezing")
@every_product
@clause("freezing.linear.products")
def test_products_computed_as_one(stack, device, module_class, text):
    """Products that are computed as one have the strides and the memory that three have."""
    run = stack.run(module_class, ten_columns, inference=True, config=AS_ONE)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(text)


@needs("freezing", "lowered_graph")
@every_product
@clause("freezing.linear.one_product")
def test_products_become_one(stack, device, module_class, text):
    """Three matmuls of one input by frozen weights, with biases and without, are one matmul and its slices."""
    run = stack.run(module_class, ten_columns, inference=True, config=AS_ONE)

    run.assert_matches_eager(allowing=SLICED)
    run.assert_compiled(graphs=1, recompiles=0)
    assert len(products(run.lowered[0])) == 1
    run.forward.operators.expect(text)
