"""Custom operators that ask for the strides they were written for get them, whatever the graph does inside."""

from functools import partial

import pytest
import torch
from torch import nn

from conformance import Program, clause

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
every_making = pytest.mark.parametrize("making", MAKING)


def intermediate(device, operator, making):
    return Intermediate(operator, MAKING[making]).to(device)


def images(device):
    return [(((torch.arange(288.0, device=device) * 5) % 7 - 3).reshape(2, 4, 6, 6),)]


@every_making
@clause("layout.custom_operators.exact_strides")
def test_exact_strides(stack, device, making):
    """An operator tagged as needing exact strides sees eager's strides."""
    make = partial(intermediate, operator=exact_strides, making=making)
    run = stack.run(Program(make=make, inference=True, config=FROZEN), images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@every_making
@clause("layout.custom_operators.stride_order")
def test_fixed_stride_order(stack, device, making):
    """An operator tagged as needing a fixed order of strides sees eager's order."""
    make = partial(intermediate, operator=fixed_order, making=making)
    run = stack.run(Program(make=make, inference=True, config=FROZEN), images)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
