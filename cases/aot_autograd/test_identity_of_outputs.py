"""Identity of outputs: what is one object in eager is one, and what is not shares no more than eager's does."""

import pytest
import torch

from conformance import Program, clause, expected, tensors


def same_twice(x):
    y = x * 2
    return y, y


def same_in_containers(x):
    y = x * 2
    return {"once": y, "again": [y]}


def contiguous(x):
    y = x * 2
    return y, y.contiguous()


def same_dtype(x):
    y = x * 2
    return y, y.to(torch.float32)


def input_itself(x):
    return x, x * 2


def input_and_its_view(x):
    return x, x.t()


def contiguous_input(x):
    return x.contiguous(), x * 2


def computed_twice(x):
    return x * 2, x * 2


def reduced_twice(x):
    return x.max(0).values, x.max(0).values


def copy(x):
    y = x * 2
    return y, y.clone()


def whole_slice(x):
    y = x * 2
    return y, y[:]


def same_view(x):
    y = x * 2
    return y, y.view(2, 3)


def same_reshape(x):
    y = x * 2
    return y, y.reshape(2, 3)


def nothing_to_squeeze(x):
    y = x * 2
    return y, y.squeeze()


def same_expand(x):
    y = x * 2
    return y, y.expand(2, 3)


def transposed_back(x):
    y = x * 2
    return y, y.t().t()


def write_first(arguments, outputs):
    """What is one object, or shares memory with the first output, shows the write."""
    first = next(iter(outputs.values())) if isinstance(outputs, dict) else outputs[0]
    with torch.no_grad():
        first[1, 1] = 40


SAME = [
    pytest.param(same_twice, expected("""aten.mul"""), id="same_twice"),
    pytest.param(same_in_containers, expected("""aten.mul"""), id="same_in_containers"),
    pytest.param(contiguous, expected("""aten.mul"""), id="contiguous"),
    pytest.param(same_dtype, expected("""aten.mul"""), id="same_dtype"),
    pytest.param(input_itself, expected("""aten.mul"""), id="input_itself"),
    pytest.param(input_and_its_view, expected("""aten.t"""), id="input_and_its_view"),
    pytest.param(contiguous_input, expected("""aten.mul"""), id="contiguous_input"),
]

APART = [
    pytest.param(computed_twice, expected("""aten.mul; aten.mul"""), id="computed_twice"),
    pytest.param(reduced_twice, expected("""aten.max; aten.max"""), id="reduced_twice"),
    pytest.param(copy, expected("""aten.mul; aten.clone"""), id="copy"),
    pytest.param(whole_slice, expected("""aten.mul; aten.slice"""), id="whole_slice"),
    pytest.param(same_view, expected("""aten.mul; aten.view"""), id="same_view"),
    pytest.param(same_reshape, expected("""aten.mul; aten.view"""), id="same_reshape"),
    pytest.param(nothing_to_squeeze, expected("""aten.mul; aten.squeeze"""), id="nothing_to_squeeze"),
    pytest.param(same_expand, expected("""aten.mul; aten.expand"""), id="same_expand"),
    pytest.param(transposed_back, expected("""aten.mul; aten.t; aten.t"""), id="transposed_back"),
]


@pytest.mark.parametrize("requires_grad", [pytest.param(False, id="without_grad"), pytest.param(True, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), SAME)
@clause("aot_autograd.aliasing.identity")
def test_outputs_that_are_one_object(stack, device, program, operators, requires_grad):
    """An output that is another output, or an input, in eager is that object."""
    run = stack.run(Program.of(program, after=write_first), tensors((2, 3), device=device, requires_grad=requires_grad))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@pytest.mark.parametrize("requires_grad", [pytest.param(False, id="without_grad"), pytest.param(True, id="with_grad")])
@pytest.mark.parametrize(("program", "operators"), APART)
@clause("aot_autograd.aliasing.identity")
def test_outputs_that_are_distinct_objects(stack, device, program, operators, requires_grad):
    """Outputs that are distinct objects in eager are distinct, whether or not they share memory."""
    run = stack.run(Program.of(program, after=write_first), tensors((2, 3), device=device, requires_grad=requires_grad))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)
