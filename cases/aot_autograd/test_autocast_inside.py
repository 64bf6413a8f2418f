"""Autocast inside the program: every operator and its gradient have the precision that eager gives them."""

import pytest
import torch

from conformance import Program, clause, expected, needs


def cast(x, enabled):
    return torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=enabled)


def off(x, w):
    with cast(x, False):
        return x @ w


def on(x, w):
    with cast(x, True):
        return x @ w


def off_in_on(x, w):
    with cast(x, True):
        y = x @ w
        with cast(x, False):
            z = x @ w
        return y, z


def on_off_on(x, w):
    with cast(x, True):
        y = x @ w
        with cast(x, False):
            z = x @ w
            with cast(x, True):
                return y, z, x @ w


def on_for_first(x, w):
    with cast(x, True):
        y = x @ w
    return y.float() @ w


def one_after_another(x, w):
    with cast(x, True):
        y = x @ w
    with cast(x, False):
        z = x @ w
    with cast(x, True):
        return y + z, x @ w


def sum_in_on(x, w):
    """A sum is taken in float32, a product is not."""
    with cast(x, True):
        return (x @ w).softmax(0).sum(1), (x @ w).pow(2)


@torch.compiler.disable
def twice(y):
    return y * 2


def graph_break_in_on(x, w):
    with cast(x, True):
        y = twice(x @ w)
        return y @ w


def outside(outputs):
    """The backward, which the caller starts with autocast off, as torch's documentation wants it."""
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_enabled("cuda", False)
    (last,) = outputs
    results = last if isinstance(last, tuple) else (last,)
    tangents = [torch.arange(257.0, 257 + one.numel(), device=one.device).to(one.dtype) for one in results]
    torch.autograd.backward(results, [one.reshape(y.shape) for one, y in zip(tangents, results, strict=True)])


def beyond_bfloat16(device):
    """Odd numbers above 256 are no bfloat16."""
    x = torch.arange(257.0, 289.0, 2, device=device).reshape(4, 4).requires_grad_()
    return x, torch.arange(513.0, 577.0, 4, device=device).reshape(4, 4).requires_grad_()


def off_before(device):
    return [beyond_bfloat16(device)]


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(on, expected("""aten._to_copy; aten._to_copy; aten.mm; aten.t; aten.mm; aten.t; aten.mm; aten._to_copy; aten._to_copy"""), id="on"),
        pytest.param(off, expected("""aten.mm; aten.t; aten.mm; aten.t; aten.mm"""), id="off"),
        pytest.param(off_in_on, expected("""\
aten._to_copy
aten._to_copy
aten.mm
aten.mm
aten.t
aten.mm
aten.t
aten.mm
aten.t
aten.mm
aten.t
aten.mm
aten._to_copy
aten.add
aten._to_copy
aten.add
"""), id="off_in_on"),
        pytest.param(on_off_on, expected("""\
aten._to_copy
aten._to_copy
aten.mm
aten.mm
aten._to_copy
aten._to_copy
aten.mm
aten.t
aten.mm
aten.t
aten.mm
aten._to_copy
aten._to_copy
aten.t
aten.mm
aten.t
aten.mm
aten.add
aten.add
aten.t
aten.mm
aten.t
aten.mm
aten._to_copy
aten.add
aten._to_copy
aten.add
"""), id="on_off_on"),
        pytest.param(on_for_first, expected("""\
aten._to_copy
aten._to_copy
aten.mm
aten._to_copy
aten.mm
aten.t
aten.mm
aten.t
aten.mm
aten._to_copy
aten.t
aten.mm
aten.t
aten.mm
aten._to_copy
aten._to_copy
aten.add
"""), id="on_for_first"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.autocast.inside")
def test_autocast_inside(stack, device, program, operators):
    """What the program computes with autocast on or off has eager's precision, and so have its gradients."""
    run = stack.run(Program(program, backward=outside), off_before)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect(operators)


@needs("graph_breaks", "training")
@clause("aot_autograd.autocast.inside")
def test_graph_break_inside(stack, device):
    """What follows a graph break inside a region with autocast on is still computed with autocast on."""
    run = stack.run(Program(graph_break_in_on, backward=outside), off_before)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=1)


@pytest.mark.parametrize("program", [one_after_another, sum_in_on])
@needs("training")
@clause("aot_autograd.autocast.inside")
def test_several_regions(stack, device, program):
    """Regions one after another, and operators that autocast keeps in float32, have eager's precision, too."""
    run = stack.run(Program(program, backward=outside), off_before)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
