"""Control flow operators: branches and loops in the graph compute, write and are differentiated as in eager."""

import pytest
import torch
from torch._higher_order_ops import map as map_rows
from torch._higher_order_ops import scan

from conformance import clause, expected, needs, tensors


def branch(x, y):
    return torch.cond(x.sum() > 0, lambda one: one * y, lambda one: one - y, (x,))


def other_branch(x, y):
    return torch.cond(x.sum() > 1000, lambda one: one * y, lambda one: one - y, (x,))


def branch_of_branches(x, y):
    def positive(one):
        return torch.cond(one.sum() > 1000, lambda two: two * y, lambda two: two.sin() + y, (one,))

    return torch.cond(x.sum() > 0, positive, lambda one: one - 1, (x,))


def capture_of_one_branch(x, y):
    """What only the branch not taken reads gets a gradient of zeros."""
    return torch.cond(x.sum() > 0, lambda one: one * one, lambda one: one * y, (x,))


def branch_on_a_view(x, y):
    return torch.cond(x.sum() > 0, lambda one: one * y, lambda one: one + y, (x.t(),))


def write_to_own(x, y):
    def filled(one):
        two = one.clone()
        two[0].add_(y[1])
        return two.mul_(2)

    return torch.cond(x.sum() > 0, filled, lambda one: one * 3, (x,))


def several_results(x, y):
    return torch.cond(x.sum() > 0, lambda one: (one * y, one.sum()), lambda one: (one + y, y.sum()), (x,))


def rows(x, y):
    return map_rows(lambda row, other: row * other + 1, x, y[0])


def rows_with_capture(x, y):
    return map_rows(lambda row: (row * y).sum(0), x)


def running_sum(x, y):
    return scan(lambda total, row: (total + row, total * row), y[0].clone(), x)


def running_product_with_capture(x, y):
    return scan(lambda total, row: (total * row + y[1], total.sin()), y[0].clone(), x, reverse=True)


class Branches(torch.nn.Module):
    """Each branch has a layer of its own; the buffer belongs to both."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.second = torch.nn.Linear(3, 3)
        self.register_buffer("offset", torch.ones(3))

    def forward(self, x, y):
        return torch.cond(
            x.sum() > 0, lambda one: self.first(one) + self.offset, lambda one: self.second(one) - self.offset, (x * y,)
        )


class Steps(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, -1.0, 2.0]))

    def forward(self, x, y):
        return scan(lambda state, row: (self.weight * state + row, state * 2), y[0].clone(), x)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(branch, expected("""aten.sum; aten.gt; aten.mul; aten.sub; cond"""), id="cond"),
        pytest.param(other_branch, expected("""aten.sum; aten.gt; aten.mul; aten.sub; cond"""), id="cond_false"),
        pytest.param(branch_of_branches, expected("""aten.sum; aten.gt; aten.sum; aten.gt; aten.mul; aten.sin; aten.add; cond; aten.sub; cond"""), id="cond_in_cond"),
        pytest.param(capture_of_one_branch, expected("""aten.sum; aten.gt; aten.mul; aten.mul; cond"""), id="capture_of_one_branch"),
        pytest.param(branch_on_a_view, expected("""aten.sum; aten.gt; aten.t; aten.mul; aten.add; cond"""), id="cond_on_a_view"),
        pytest.param(write_to_own, expected("""aten.sum; aten.gt; aten.clone; aten.select; aten.select; aten.add; aten.select_scatter; aten.mul; aten.mul; cond"""), id="write_to_own"),
        pytest.param(several_results, expected("""aten.sum; aten.gt; aten.mul; aten.sum; aten.add; aten.sum; cond"""), id="several_results"),
        pytest.param(rows, expected("""aten.select; aten.mul; aten.add; map_impl"""), id="map"),
        pytest.param(rows_with_capture, expected("""aten.mul; aten.sum; map_impl"""), id="map_with_capture"),
        pytest.param(Branches, expected("""aten.sum; aten.gt; aten.mul; aten.t; aten.addmm; aten.add; aten.t; aten.addmm; aten.sub; cond"""), id="parameters_in_cond"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.control_flow.gradients")
def test_gradients(stack, device, program, operators):
    """A branch, a map or a scan has eager's results, and what its bodies read has eager's gradients."""
    leaves = tensors((3, 3), (3, 3), device=device, requires_grad=True)
    run = stack.run(program, leaves)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize(
    ("program", "earlier", "operators"),
    [
        pytest.param(
            running_sum,
            expected("""aten.select; aten.clone; aten.permute; aten.add; aten.mul; aten.clone; scan"""),
            expected("""aten.select; aten.clone; aten.add; aten.mul; aten.clone; scan"""),
            id="scan",
        ),
        pytest.param(
            running_product_with_capture,
            expected(
                """aten.select; aten.clone; aten.permute; aten.flip; aten.mul; aten.select; aten.add; aten.sin; aten.clone; scan; aten.flip"""
            ),
            expected(
                """aten.select; aten.clone; aten.flip; aten.mul; aten.select_copy; aten.add; aten.sin; aten.clone; scan; aten.flip"""
            ),
            id="with_capture",
        ),
        pytest.param(
            Steps,
            expected("""aten.select; aten.clone; aten.permute; aten.mul; aten.add; aten.mul; aten.clone; scan"""),
            expected("""aten.select; aten.clone; aten.mul; aten.add; aten.mul; aten.clone; scan"""),
            id="with_parameter",
        ),
    ],
)
@needs("training")
@clause("aot_autograd.control_flow.gradients")
def test_gradients_of_a_scan(stack, device, program, earlier, operators):
    """A scan has eager's states and results, and what its body reads has eager's gradients."""
    leaves = tensors((3, 3), (3, 3), device=device, requires_grad=True)
    run = stack.run(program, leaves)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(earlier, until="2.10")
    run.forward.operators.expect(operators, since="2.10")
