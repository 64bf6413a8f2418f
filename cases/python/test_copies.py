"""Copies: of tensors, containers, modules and objects, by the program and after it."""

import copy
import io
import pickle

import pytest
import torch

from conformance import clause, expected, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


class Held:
    def __init__(self, values):
        self.values = values

    def __copy__(self):
        return Held([*self.values, "copied"])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(3.0))
        self.register_buffer("shift", torch.ones(3))
        self.notes = [1]

    def forward(self, x):
        self.notes.append(2)
        return x * self.weight + self.shift


def shallow(x, held):
    copied = copy.copy(held)
    copied.append(5)
    copied[0].append(6)
    return double(x), copied, copied[0] is held[0]


def deep(x, held):
    copied = copy.deepcopy(held)
    copied[0].append(6)
    return double(x), copied, copied[0] is held[0]


def deep_shares(x, held):
    """What is one object stays one object in the copy."""
    copied = copy.deepcopy([held, held])
    return double(x), copied[0] is copied[1], copied[0] is held


def of_object(x, held):
    copied = copy.copy(Held(held))
    return double(x), copied.values, held is copied.values


def of_tensors(x, held):
    y = double(x)
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    deep.add_(1)
    return y, shallow, deep


def clone_and_detach(x, held):
    y = double(x)
    cloned, detached = x.clone(), x.detach()
    cloned.add_(1)
    return y, cloned, detached


def slices(x, held):
    other, same = held[:], held
    other.append(7)
    return double(x), other, same is held, list(held) == held, dict(a=held)["a"] is held


def dict_copies(x, held):
    table = {"a": held}
    other, third = table.copy(), {**table, "b": 1}
    other["c"] = 2
    return double(x), sorted(table), sorted(other), third["a"] is held


def with_list(device):
    return [(torch.arange(3.0, device=device), [[1], 2])]


def one_tensor(device):
    return [(torch.arange(3.0, device=device),)]


def make_deep_copy(arguments, output):
    copied = copy.deepcopy((arguments, output))
    copied[1].add_(1)
    return copied


def pickle_and_load(arguments, output):
    return pickle.loads(pickle.dumps((arguments, output.detach())))


def save_and_load(arguments, output):
    file = io.BytesIO()
    torch.save(output.detach(), file)
    file.seek(0)
    return torch.load(file)


INSIDE = [
    pytest.param(shallow, expected("""mul"""), id="shallow"),
    pytest.param(deep, expected("""mul"""), id="deep"),
    pytest.param(deep_shares, expected("""mul"""), id="deep_shares"),
    pytest.param(of_object, expected("""mul"""), id="of_object"),
    pytest.param(of_tensors, expected("""mul"""), id="of_tensors"),
    pytest.param(clone_and_detach, expected("""mul; clone; detach; add_"""), id="clone_and_detach"),
    pytest.param(slices, expected("""mul"""), id="slices"),
    pytest.param(dict_copies, expected("""mul"""), id="dict_copies"),
]


@pytest.mark.parametrize(("program", "operators"), INSIDE)
@needs("graph_breaks", "python_objects")
@clause("python.copies.inside")
def test_copies_of_the_program(stack, device, program, operators):
    """A copy that the program makes shares what eager's shares, and owns what eager's owns."""
    run = stack.run(program, with_list)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect(operators)


@pytest.mark.parametrize("after", [make_deep_copy, pickle_and_load, pytest.param(save_and_load, id="save_and_load")])
@needs("module_state", "python_objects")
@clause("python.copies.outside")
def test_copies_after_the_call(stack, device, after):
    """What a call took and gave can be copied, pickled and saved afterwards, with eager's values."""
    run = stack.run(Net, one_tensor, after=after, backward=False, inference=True)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""\
mul
add
""")
