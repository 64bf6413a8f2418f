"""Checkpoints: what their backward computes again, random numbers included, changes no gradient."""

import functools

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from conformance import clause, expected, needs, tensors

again = functools.partial(checkpoint, use_reentrant=False)


def squares(x):
    return (x * x).sin() * x


def drop(x):
    kept = functional.dropout(x, 0.5)
    return kept * kept


def noise(x):
    y = x * torch.rand_like(x)
    return y * y


def products_saved(*_):
    return create_selective_checkpoint_contexts(products_only)


def products_only(_, operator, *args, **kwargs):
    saved = operator is torch.ops.aten.mm.default
    return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE


def checkpointed(x):
    return again(squares, x)


def checkpointed_dropout(x):
    return again(drop, x)


def checkpointed_noise(x):
    return again(noise, x) + x


def nested(x):
    return again(lambda one: again(drop, one * 2) + drop(one), x)


def one_after_another(x):
    return again(drop, again(drop, x) + 1)


def dropout_around(x):
    """Numbers drawn before, in and behind the checkpoint."""
    return drop(again(drop, drop(x)))


def write_inside(x):
    return again(lambda one: one.sin().mul_(one).relu_() * one, x)


def captured(x):
    y = x * 2
    return again(lambda one: drop(one * y), x)


def selective(x):
    return again(lambda one: drop(one @ one.t()).sin() @ one, x, context_fn=products_saved)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(checkpointed, expected("""aten.mul; aten.sin; aten.mul; aten.mul; aten.mul; aten.cos; aten.mul; aten.mul; aten.mul; aten.add; aten.add"""), id="plain"),
        pytest.param(checkpointed_dropout, expected("""aten.native_dropout; aten.mul; aten.mul; aten.mul; aten.add; aten.native_dropout_backward"""), id="dropout"),
        pytest.param(checkpointed_noise, expected("""aten.rand_like; aten.mul; aten.mul; aten.add; aten.mul; aten.mul; aten.add; aten.mul; aten.add"""), id="noise"),
        pytest.param(nested, expected("""\
aten.mul
aten.native_dropout
aten.mul
aten.native_dropout
aten.mul
aten.add
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
aten.mul
aten.add
"""), id="nested"),
        pytest.param(one_after_another, expected("""\
aten.native_dropout
aten.mul
aten.add
aten.native_dropout
aten.mul
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
"""), id="one_after_another"),
        pytest.param(dropout_around, expected("""\
aten.native_dropout
aten.mul
aten.native_dropout
aten.mul
aten.native_dropout
aten.mul
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
"""), id="dropout_around"),
        pytest.param(write_inside, expected("""aten.sin; aten.clone; aten.mul; aten.relu; aten.mul; aten.mul; aten.mul; aten.threshold_backward; aten.mul; aten.mul; aten.add; aten.cos; aten.mul; aten.add"""), id="write_inside"),
        pytest.param(captured, expected("""aten.mul; aten.mul; aten.native_dropout; aten.mul; aten.mul; aten.mul; aten.add; aten.native_dropout_backward; aten.mul; aten.mul; aten.mul; aten.add"""), id="captured"),
        pytest.param(selective, expected("""\
aten.t
aten.mm
aten.native_dropout
aten.mul
aten.sin
aten.mm
aten.t
aten.mm
aten.t
aten.mm
aten.cos
aten.mul
aten.mul
aten.mul
aten.add
aten.native_dropout_backward
aten.t
aten.mm
aten.t
aten.t
aten.mm
aten.add
aten.t
aten.add
"""), id="selective"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.recomputation.checkpoint")
def test_checkpoint(stack, device, program, operators):
    """A checkpointed region has eager's gradients, and its backward uses the random numbers of its forward."""
    run = stack.run(program, tensors((6, 8), device=device, requires_grad=True))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.operators.expect(operators)
