"""Loops and branches in the graph: they end with eager's state and leave in what they capture what eager leaves."""

import pytest
import torch
from torch._higher_order_ops import while_loop

from conformance import clause, expected


def counter(x):
    return torch.zeros((), dtype=torch.int64, device=x.device)


def loop(x, y):
    return while_loop(lambda i, one: i < 3, lambda i, one: (i + 1, one * y), (counter(x), x))


def loop_of_data(x, y):
    return while_loop(lambda one: one.sum() < 50, lambda one: (one + y * y,), (x.clone(),))


def loop_of_loops(x, y):
    def outer(i, one):
        _, inner = while_loop(lambda j, two: j < 2, lambda j, two: (j + 1, two + y), (counter(x), one))
        return i + 1, inner * 2

    return while_loop(lambda i, one: i < 2, outer, (counter(x), x))


def no_step(x, y):
    return while_loop(lambda i, one: i < 0, lambda i, one: (i + 1, one * y), (counter(x), x))


def write_in_body(x, y):
    def step(i, one):
        y.add_(i)
        return i + 1, one * y

    return while_loop(lambda i, one: i < 3, step, (counter(x), x))


def write_in_body_after_write(x, y):
    y.mul_(2)

    def step(i):
        y[0].add_(x[0])
        return (i + 1,)

    return *while_loop(lambda i: i < 3, step, (counter(x),)), y + 1


def write_in_condition(x, y):
    def more(i, one):
        y.sub_(2)
        return i < 3

    return while_loop(more, lambda i, one: (i + 1, one + 1), (counter(x), x))


def write_in_condition_after_write(x, y):
    """The condition writes once more than the body runs, and what it writes to was written by the program."""
    y.copy_(x)

    def more(i, one):
        y.mul_(3)
        return i < 2

    return while_loop(more, lambda i, one: (i + 1, one - 1), (counter(x), x))


def write_to_view_in_condition(x, y):
    y.add_(1)
    row = y[1]

    def more(i):
        row.add_(x[0])
        return i < 2

    return while_loop(more, lambda i: (i + 1,), (counter(x),))


def write_in_branch(x, y):
    def written(one):
        y.add_(one)
        return one * y

    return torch.cond(x.sum() > 0, written, lambda one: one - y, (x,))


def write_in_branch_not_taken(x, y):
    def written(one):
        y.add_(one)
        return one * y

    return torch.cond(x.sum() > 1000, written, lambda one: one - y, (x,))


def write_in_branch_after_write(x, y):
    y.mul_(2)

    def written(one):
        y[1].add_(one[0])
        return one * 2

    return torch.cond(x.sum() > 0, written, lambda one: one * 3, (x,)), y * 2


def result_is_operand(x, y):
    return torch.cond(x.sum() > 0, lambda one: one, lambda one: one * y, (x,))


def result_is_view(x, y):
    return torch.cond(x.sum() > 0, lambda one: one[0], lambda one: y[0], (x,))


def result_is_captured(x, y):
    return torch.cond(x.sum() > 0, lambda one: y, lambda one: one * 2, (x,))


def two_tensors(device):
    x = torch.arange(9.0, device=device).reshape(3, 3)
    return [(x, (x % 4).flip(0) - 1)]


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(loop, expected("""aten.zeros; aten.lt; aten.add; aten.mul; while_loop"""), id="while"),
        pytest.param(loop_of_data, expected("""aten.clone; aten.sum; aten.lt; aten.mul; aten.add; while_loop"""), id="while_of_data"),
        pytest.param(loop_of_loops, expected("""aten.zeros; aten.lt; aten.zeros; aten.lt; aten.add; aten.add; while_loop; aten.add; aten.mul; while_loop"""), id="while_in_while"),
        pytest.param(no_step, expected("""aten.zeros; aten.lt; aten.add; aten.mul; while_loop"""), id="no_step"),
    ],
)  # fmt: skip
@clause("aot_autograd.control_flow.loops")
def test_loop(stack, device, program, operators):
    """A loop in the graph takes as many steps as in eager and ends with eager's state."""
    run = stack.run(program, two_tensors, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(write_in_body, expected("""aten.zeros; aten.lt; aten.add; aten.add; aten.mul; aten.copy_; auto_functionalized_v2; aten.copy_"""), id="body"),
        pytest.param(write_in_body_after_write, expected("""aten.mul; aten.zeros; aten.lt; aten.select; aten.select; aten.add; aten.select_scatter; aten.add; aten.copy_; auto_functionalized_v2; aten.add; aten.copy_"""), id="body_after_write"),
        pytest.param(write_in_condition, expected("""aten.zeros; aten.sub; aten.lt; aten.copy_; aten.add; aten.add; auto_functionalized_v2; aten.copy_"""), id="condition"),
        pytest.param(write_in_condition_after_write, expected("""aten.copy; aten.zeros; aten.mul; aten.lt; aten.copy_; aten.add; aten.sub; auto_functionalized_v2; aten.copy_"""), id="condition_after_write"),
        pytest.param(write_to_view_in_condition, expected("""aten.add; aten.zeros; aten.select; aten.add; aten.lt; aten.copy_; aten.add; auto_functionalized_v2; aten.copy_"""), id="view_in_condition"),
        pytest.param(write_in_branch, expected("""aten.sum; aten.gt; aten.add; aten.mul; aten.copy_; aten.sub; auto_functionalized_v2; aten.copy_"""), id="branch"),
        pytest.param(write_in_branch_not_taken, expected("""aten.sum; aten.gt; aten.add; aten.mul; aten.copy_; aten.sub; auto_functionalized_v2; aten.copy_"""), id="branch_not_taken"),
        pytest.param(write_in_branch_after_write, expected("""\
aten.mul
aten.sum
aten.gt
aten.select
aten.select
aten.add
aten.select_scatter
aten.mul
aten.copy_
aten.mul
auto_functionalized_v2
aten.mul
aten.copy_
"""), id="branch_after_write"),
    ],
)  # fmt: skip
@clause("aot_autograd.control_flow.captured_writes")
def test_write_to_captured(stack, device, program, operators):
    """A captured tensor that a body or a condition writes to holds eager's value, whatever wrote to it before."""
    run = stack.run(program, two_tensors, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("program", [result_is_operand, result_is_view, result_is_captured])
@clause("aot_autograd.control_flow.aliases")
def test_result_is_an_input(stack, device, program):
    """A branch whose result is an input of it, or a view of one, gives eager's result or the documented error."""
    run = stack.run(program, two_tensors, inference=True)

    run.limit.expect("""RuntimeError: cond_true might be aliasing the input or the output!""")
    run.assert_matches_eager(or_limit=True)
    run.assert_compiled(graphs=1, recompiles=0)
