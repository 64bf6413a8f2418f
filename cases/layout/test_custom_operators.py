"""Custom operators that ask for the strides they were written for get them, whatever the graph does inside."""

from functools import partial

import pytest
import torch
from torch import nn

from conformance import Program, clause, expected

EXACT, FIXED = (torch.Tag.needs_exact_strides,), (torch.Tag.needs_fixed_stride_order,)


def strides_of(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(x.stride(), device=x.device)


def order_of(x: torch.Tensor) -> torch.Tensor:
    """The dimensions by falling stride."""
    return torch.tensor(sorted(range(x.dim()), key=lambda dim: -x.stride(dim)), device=x.device)


def one_number_for_each_dimension(x):
    return torch.empty(x.dim(), dtype=torch.int64, device=x.device)


exact_strides = torch.library.custom_op("conformance_layout::exact_strides", strides_of, mutates_args=(), tags=EXACT)
fixed_order = torch.library.custom_op("conformance_layout::fixed_order", order_of, mutates_args=(), tags=FIXED)
exact_strides.register_fake(one_number_for_each_dimension)
fixed_order.register_fake(one_number_for_each_dimension)


class Intermediate(nn.Module):
    """Hands an operator a tensor of the graph, made by a convolution and others, with strides of their own."""

    def __init__(self, operator, make):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, padding=1)
        self.operator, self.make = operator, make
        self.eval()

    def forward(self, x):
        made = self.make(self.conv(x))
        return self.operator(made), made.sum((0, 1))


MAKING = {
    "convolution": lambda y: y,
    "sum": lambda y: y + 1,
    "transposed": lambda y: (y * 2).transpose(1, 3),
    "sliced": lambda y: (y - 1)[:, ::2, 1:],
    "expanded": lambda y: y.sum(1, keepdim=True).expand(-1, 3, -1, -1),
    "channels_last": lambda y: (y + 1).contiguous(memory_format=torch.channels_last),
    "padded": lambda y: y.new_zeros(2, 8, 6, 9)[..., :6] + y,
}
FROZEN = {"inductor.freezing": True, "inductor.layout_optimization": True}

handed_exactly = pytest.mark.parametrize(
    ("making", "text"),
    [
        pytest.param(
            "convolution",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
exact_strides: i64[4] = conformance_layout.exact_strides(convolution)
sum: f32[6, 6] = aten.sum(convolution, [0, 1])
return (exact_strides, sum)
"""),
            id="convolution",
        ),
        pytest.param(
            "sum",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
add: f32[2, 8, 6, 6] = aten.add(convolution, 1)
exact_strides: i64[4] = conformance_layout.exact_strides(add)
sum: f32[6, 6] = aten.sum(add, [0, 1])
return (exact_strides, sum)
"""),
            id="sum",
        ),
        pytest.param(
            "transposed",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
mul: f32[2, 8, 6, 6] = aten.mul(convolution, 2)
transpose: f32[2, 6, 6, 8](288, 1, 6, 36) = aten.transpose(mul, 1, 3)
exact_strides: i64[4] = conformance_layout.exact_strides(transpose)
sum: f32[6, 8] = aten.sum(transpose, [0, 1])
return (exact_strides, sum)
"""),
            id="transposed",
        ),
        pytest.param(
            "sliced",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
sub: f32[2, 8, 6, 6] = aten.sub(convolution, 1)
slice: f32[2, 4, 6, 6](288, 72, 6, 1) = aten.slice(sub, 1, 0, max, 2)
slice_1: f32[2, 4, 5, 6](288, 72, 6, 1) = aten.slice(slice, 2, 1, max)
exact_strides: i64[4] = conformance_layout.exact_strides(slice_1)
sum: f32[5, 6] = aten.sum(slice_1, [0, 1])
return (exact_strides, sum)
"""),
            id="sliced",
        ),
        pytest.param(
            "expanded",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
sum: f32[2, 1, 6, 6] = aten.sum(convolution, [1], True)
expand: f32[2, 3, 6, 6](36, 0, 6, 1) = aten.expand(sum, [-1, 3, -1, -1])
exact_strides: i64[4] = conformance_layout.exact_strides(expand)
sum_1: f32[6, 6] = aten.sum(expand, [0, 1])
return (exact_strides, sum_1)
"""),
            id="expanded",
        ),
        pytest.param(
            "channels_last",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
add: f32[2, 8, 6, 6] = aten.add(convolution, 1)
clone: f32[2, 8, 6, 6](288, 1, 48, 8) = aten.clone(add, memory_format=channels_last)
exact_strides: i64[4] = conformance_layout.exact_strides(clone)
sum: f32[6, 6] = aten.sum(clone, [0, 1])
return (exact_strides, sum)
"""),
            id="channels_last",
        ),
        pytest.param(
            "padded",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
new_zeros: f32[2, 8, 6, 9] = aten.new_zeros(convolution, [2, 8, 6, 9])
slice: f32[2, 8, 6, 6](432, 54, 9, 1) = aten.slice(new_zeros, 3, 0, 6)
add: f32[2, 8, 6, 6] = aten.add(slice, convolution)
exact_strides: i64[4] = conformance_layout.exact_strides(add)
sum: f32[6, 6] = aten.sum(add, [0, 1])
return (exact_strides, sum)
"""),
            id="padded",
        ),
    ],
)
handed_in_order = pytest.mark.parametrize(
    ("making", "text"),
    [
        pytest.param(
            "convolution",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
fixed_order: i64[4] = conformance_layout.fixed_order(convolution)
sum: f32[6, 6] = aten.sum(convolution, [0, 1])
return (fixed_order, sum)
"""),
            id="convolution",
        ),
        pytest.param(
            "sum",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
add: f32[2, 8, 6, 6] = aten.add(convolution, 1)
fixed_order: i64[4] = conformance_layout.fixed_order(add)
sum: f32[6, 6] = aten.sum(add, [0, 1])
return (fixed_order, sum)
"""),
            id="sum",
        ),
        pytest.param(
            "transposed",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
mul: f32[2, 8, 6, 6] = aten.mul(convolution, 2)
transpose: f32[2, 6, 6, 8](288, 1, 6, 36) = aten.transpose(mul, 1, 3)
fixed_order: i64[4] = conformance_layout.fixed_order(transpose)
sum: f32[6, 8] = aten.sum(transpose, [0, 1])
return (fixed_order, sum)
"""),
            id="transposed",
        ),
        pytest.param(
            "sliced",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
sub: f32[2, 8, 6, 6] = aten.sub(convolution, 1)
slice: f32[2, 4, 6, 6](288, 72, 6, 1) = aten.slice(sub, 1, 0, max, 2)
slice_1: f32[2, 4, 5, 6](288, 72, 6, 1) = aten.slice(slice, 2, 1, max)
fixed_order: i64[4] = conformance_layout.fixed_order(slice_1)
sum: f32[5, 6] = aten.sum(slice_1, [0, 1])
return (fixed_order, sum)
"""),
            id="sliced",
        ),
        pytest.param(
            "expanded",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
sum: f32[2, 1, 6, 6] = aten.sum(convolution, [1], True)
expand: f32[2, 3, 6, 6](36, 0, 6, 1) = aten.expand(sum, [-1, 3, -1, -1])
fixed_order: i64[4] = conformance_layout.fixed_order(expand)
sum_1: f32[6, 6] = aten.sum(expand, [0, 1])
return (fixed_order, sum_1)
"""),
            id="expanded",
        ),
        pytest.param(
            "channels_last",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
add: f32[2, 8, 6, 6] = aten.add(convolution, 1)
clone: f32[2, 8, 6, 6](288, 1, 48, 8) = aten.clone(add, memory_format=channels_last)
fixed_order: i64[4] = conformance_layout.fixed_order(clone)
sum: f32[6, 6] = aten.sum(clone, [0, 1])
return (fixed_order, sum)
"""),
            id="channels_last",
        ),
        pytest.param(
            "padded",
            expected("""\
in0: f32[8, 4, 3, 3]
in1: f32[8]
in2: f32[2, 4, 6, 6]
convolution: f32[2, 8, 6, 6] = aten.convolution(in2, in0, in1, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
new_zeros: f32[2, 8, 6, 9] = aten.new_zeros(convolution, [2, 8, 6, 9])
slice: f32[2, 8, 6, 6](432, 54, 9, 1) = aten.slice(new_zeros, 3, 0, 6)
add: f32[2, 8, 6, 6] = aten.add(slice, convolution)
fixed_order: i64[4] = conformance_layout.fixed_order(add)
sum: f32[6, 6] = aten.sum(add, [0, 1])
return (fixed_order, sum)
"""),
            id="padded",
        ),
    ],
)


def intermediate(device, operator, making):
    return Intermediate(operator, MAKING[making]).to(device)


def images(device):
    return [(((torch.arange(288.0, device=device) * 5) % 7 - 3).reshape(2, 4, 6, 6),)]


@handed_exactly
@clause("layout.custom_operators.exact_strides")
def test_exact_strides(stack, device, making, text):
    """An operator tagged as needing exact strides sees eager's strides."""
    make = partial(intermediate, operator=exact_strides, making=making)
    run = stack.run(Program(make=make, inference=True, config=FROZEN), images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(text)


@handed_in_order
@clause("layout.custom_operators.stride_order")
def test_fixed_stride_order(stack, device, making, text):
    """An operator tagged as needing a fixed order of strides sees eager's order."""
    make = partial(intermediate, operator=fixed_order, making=making)
    run = stack.run(Program(make=make, inference=True, config=FROZEN), images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(text)
