"""Splits of inputs: each of the several views that one operator makes of an input is a view of it."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def chunk(x):
    return x.chunk(2)


def split(x):
    return x.split(1)


def split_with_sizes(x):
    return x.split([1, 2], 1)


def tensor_split(x):
    return x.tensor_split((1,), 1)


def hsplit(x):
    return x.hsplit((2,))


def vsplit(x):
    return x.vsplit(2)


def unbind(x):
    return x.unbind()


def unpacked(x):
    return (*x,)


def every_split(x):
    """With no gradients nothing ties one part to another, and one graph has them all."""
    return chunk(x), split(x), split_with_sizes(x), tensor_split(x), hsplit(x), vsplit(x), unbind(x), unpacked(x)


def plain(device):
    return [(torch.arange(6.0, device=device).reshape(2, 3),)]


def special(device):
    return tensors((2, 3), device=device, special=True)(device)


def with_history(device):
    leaf = torch.arange(6.0, device=device).requires_grad_()
    return [(leaf.clone().reshape(2, 3),)]


def write_each(arguments, outputs):
    """Each part writes what the others are to show: a number of its own is added for each part with an element."""
    with torch.no_grad():
        for number, parts in enumerate(outputs):
            for part in parts:
                part.add_(number + 1)


def scale_last(arguments, outputs):
    """Where one operator made several views, eager refuses to write to one of them."""
    outputs[-1].mul_(5)
    arguments[0].sum().backward()


MODES = [
    pytest.param(plain, False, id="without_grad"),
    pytest.param(special, False, id="special_values"),
    pytest.param(with_history, "no_grad", id="no_grad"),
    pytest.param(with_history, "inference_mode", id="inference_mode"),
]

VIEWS = [
    pytest.param(
        chunk,
        expected(
            """in0: f32[2, 3]; split: (f32[1, 3], f32[1, 3]) = aten.split(in0, 1); getitem: f32[1, 3] = split[0]; getitem_1: f32[1, 3] = split[1]; return (getitem, getitem_1)"""
        ),
        id="chunk",
    ),
    pytest.param(
        split,
        expected(
            """in0: f32[2, 3]; split: (f32[1, 3], f32[1, 3]) = aten.split(in0, 1); getitem: f32[1, 3] = split[0]; getitem_1: f32[1, 3] = split[1]; return (getitem, getitem_1)"""
        ),
        id="split",
    ),
    pytest.param(
        split_with_sizes,
        expected("""\
in0: f32[2, 3]
split_with_sizes: (f32[2, 1](3, 1), f32[2, 2](3, 1)) = aten.split_with_sizes(in0, [1, 2], 1)
getitem: f32[2, 1](3, 1) = split_with_sizes[0]
getitem_1: f32[2, 2](3, 1) = split_with_sizes[1]
return (getitem, getitem_1)
"""),
        id="split_with_sizes",
    ),
    pytest.param(
        tensor_split,
        expected(
            """in0: f32[2, 3]; slice: f32[2, 1](3, 1) = aten.slice(in0, 1, 0, 1); slice_1: f32[2, 2](3, 1) = aten.slice(in0, 1, 1, 3); return (slice, slice_1)"""
        ),
        id="tensor_split",
    ),
    pytest.param(
        hsplit,
        expected(
            """in0: f32[2, 3]; slice: f32[2, 2](3, 1) = aten.slice(in0, 1, 0, 2); slice_1: f32[2, 1](3, 1) = aten.slice(in0, 1, 2, 3); return (slice, slice_1)"""
        ),
        id="hsplit",
    ),
    pytest.param(
        vsplit,
        expected(
            """in0: f32[2, 3]; slice: f32[1, 3] = aten.slice(in0, 0, 0, 1); slice_1: f32[1, 3] = aten.slice(in0, 0, 1, 2); return (slice, slice_1)"""
        ),
        id="vsplit",
    ),
    pytest.param(
        unbind,
        expected(
            """in0: f32[2, 3]; unbind: (f32[3], f32[3]) = aten.unbind(in0); getitem: f32[3] = unbind[0]; getitem_1: f32[3] = unbind[1]; return (getitem, getitem_1)"""
        ),
        id="unbind",
    ),
    pytest.param(
        unpacked,
        expected(
            """in0: f32[2, 3]; select: f32[3] = aten.select(in0, 0, 0); select_1: f32[3] = aten.select(in0, 0, 1); return (select, select_1)"""
        ),
        id="unpacked",
    ),
]


@pytest.mark.parametrize(("calls", "inference"), MODES)
@clause("aot_autograd.aliasing.view_of_input")
def test_parts_without_gradients(stack, device, calls, inference):
    """Each of the parts comes out without history, and shares memory with the input: a write to it shows there."""
    run = stack.run(Program.of(every_split, inference=inference, after=write_each), calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[2, 3]
split: (f32[1, 3], f32[1, 3]) = aten.split(in0, 1)
getitem: f32[1, 3] = split[0]
getitem_1: f32[1, 3] = split[1]
split_1: (f32[1, 3], f32[1, 3]) = aten.split(in0, 1)
getitem_2: f32[1, 3] = split_1[0]
getitem_3: f32[1, 3] = split_1[1]
split_with_sizes: (f32[2, 1](3, 1), f32[2, 2](3, 1)) = aten.split_with_sizes(in0, [1, 2], 1)
getitem_4: f32[2, 1](3, 1) = split_with_sizes[0]
getitem_5: f32[2, 2](3, 1) = split_with_sizes[1]
slice: f32[2, 1](3, 1) = aten.slice(in0, 1, 0, 1)
slice_1: f32[2, 2](3, 1) = aten.slice(in0, 1, 1, 3)
slice_2: f32[2, 2](3, 1) = aten.slice(in0, 1, 0, 2)
slice_3: f32[2, 1](3, 1) = aten.slice(in0, 1, 2, 3)
slice_4: f32[1, 3] = aten.slice(in0, 0, 0, 1)
slice_5: f32[1, 3] = aten.slice(in0, 0, 1, 2)
unbind: (f32[3], f32[3]) = aten.unbind(in0)
getitem_6: f32[3] = unbind[0]
getitem_7: f32[3] = unbind[1]
select: f32[3] = aten.select(in0, 0, 0)
select_1: f32[3] = aten.select(in0, 0, 1)
return (getitem, getitem_1, getitem_2, getitem_3, getitem_4, getitem_5, slice, slice_1, slice_2, slice_3, slice_4, slice_5, getitem_6, getitem_7, select, select_1)
""")


@pytest.mark.parametrize(("program", "graph"), VIEWS)
@clause("aot_autograd.aliasing.view_of_input_with_gradients")
def test_write_to_one_of_several_parts(stack, device, program, graph):
    """A write to one of the parts of an input that has history is recorded, or refused, as in eager."""
    run = stack.run(Program.of(program, after=scale_last), with_history)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect(graph)
