"""Inputs that start inside their storage, aligned or not: the same result, and views of them stay where they are."""

from functools import partial

import pytest
import torch

from conformance import clause, needs

every_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)


def at_offsets(device, dtype, offsets):
    """One call for each offset, every argument a view of a buffer of its own."""
    buffer = (torch.arange(80, device=device) * 5) % 7 - 3
    return [(buffer.to(dtype)[offset : offset + 36],) for offset in offsets]


def alignments(dtype):
    return partial(at_offsets, dtype=dtype, offsets=(0, 1, 2, 3, 4, 16))


def misaligned_first(dtype):
    return partial(at_offsets, dtype=dtype, offsets=(1, 0, 8))


def add_and_sum(x):
    return x * 2 + 1, x.reshape(6, 6).sum(1)


def add_in_place(x):
    x.add_(1)
    return x.reshape(6, 6).sum(0)


def views_of_it(x):
    return x[1:], x[5:].reshape(-1), x.as_strided((3, 2), (5, 2), 5)


@pytest.mark.parametrize("calls", [alignments, misaligned_first], ids=["aligned_first", "misaligned_first"])
@every_dtype
@clause("layout.offsets.alignment")
def test_alignments_in_turn(stack, device, dtype, calls):
    """One graph serves every alignment, whichever it was compiled for."""
    run = stack.run(add_and_sum, calls(dtype), dynamic=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("input_mutation")
@every_dtype
@clause("layout.offsets.mutation")
def test_misaligned_input_is_mutated(stack, device, dtype):
    """A write to an input at any alignment lands in the caller's storage, and nowhere beside it."""
    run = stack.run(add_in_place, alignments(dtype), dynamic=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.add
aten.view
aten.sum
aten.copy_
""")


@every_dtype
@clause("layout.offsets.views")
def test_views_keep_their_offset(stack, device, dtype):
    """Views of an input that starts inside its storage share its memory at eager's offsets."""
    run = stack.run(views_of_it, partial(at_offsets, dtype=dtype, offsets=(3,)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
