"""Pieces of a graph: what one returns is what the next is compiled for."""

import contextlib

import torch

from conformance import Program, clause, needs, probes, tensors


def twice_or_two(x):
    y = x + 1
    z = x + 2
    if x.numel() < 5:
        return y, y
    return y, z


@contextlib.contextmanager
def operator_registered():
    with torch.library._scoped_library("conformance_pieces", "FRAGMENT") as library:
        library.define("twice_or_two(Tensor x) -> (Tensor, Tensor)")
        for key in ("CPU", "CUDA", "Meta"):
            library.impl("twice_or_two", twice_or_two, key)
        yield


def multiply_in_place(x):
    b, c = torch.ops.conformance_pieces.twice_or_two(x)
    return (b.mul_(c),)


IN_PIECES = Program(multiply_in_place, probes=(probes.CutBefore("mul_"), probes.Within(operator_registered)))


@needs("recompiles")
@clause("aot_autograd.pieces.duplicate_outputs")
def test_outputs_are_one_tensor_then_two(stack, device):
    """A second piece that was compiled for one tensor twice computes with two where the first piece returns two."""
    run = stack.run(IN_PIECES, tensors((4,), device=device).then(tensors((6,), device=device)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=4, recompiles=1)
    run.recompiles.expect("""size of x at 0: expected 4, actual 6""")
    run.dynamo.expect("""\
in0: f32[4]
twice_or_two: (f32[4], f32[4]) = conformance_pieces.twice_or_two(in0)
getitem: f32[4] = twice_or_two[0]
getitem_1: f32[4] = twice_or_two[1]
return (getitem, getitem_1)

in0: f32[4]
in1: f32[4]
mul_: f32[4] = in0.mul_(in1)
return (mul_,)

in0: f32[s0]
in1: s0
twice_or_two: (f32[s0], f32[s0]) = conformance_pieces.twice_or_two(in0)
getitem: f32[s0] = twice_or_two[0]
getitem_1: f32[s0] = twice_or_two[1]
return (getitem, getitem_1)

in0: f32[s0]
in1: s0
in2: f32[s0]
mul_: f32[s0] = in0.mul_(in2)
return (mul_,)
""")


@needs("recompiles")
@clause("aot_autograd.pieces.duplicate_outputs")
def test_outputs_are_two_tensors_then_one(stack, device):
    """A second piece that was compiled for two tensors computes with one where the first piece returns it twice."""
    run = stack.run(IN_PIECES, tensors((6,), device=device).then(tensors((4,), device=device)))

    run.assert_matches_eager()
    run.assert_compiled(graphs=4, recompiles=1)
    run.recompiles.expect("""size of x at 0: expected 6, actual 4""")
    run.dynamo.expect("""\
in0: f32[6]
twice_or_two: (f32[6], f32[6]) = conformance_pieces.twice_or_two(in0)
getitem: f32[6] = twice_or_two[0]
getitem_1: f32[6] = twice_or_two[1]
return (getitem, getitem_1)

in0: f32[6]
in1: f32[6]
mul_: f32[6] = in0.mul_(in1)
return (mul_,)

in0: f32[s0]
in1: s0
twice_or_two: (f32[s0], f32[s0]) = conformance_pieces.twice_or_two(in0)
getitem: f32[s0] = twice_or_two[0]
getitem_1: f32[s0] = twice_or_two[1]
return (getitem, getitem_1)

in0: f32[s0]
in1: s0
in2: f32[s0]
mul_: f32[s0] = in0.mul_(in2)
return (mul_,)
""")
