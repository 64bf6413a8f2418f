"""Containers that a program touches: what is in them afterwards is what eager leaves there."""

import collections

import pytest
import torch

from conformance import clause, expected, needs

RESULTS = []
TABLE = {"kept": 1}


def append_result(x, held):
    held.append(x * 2)
    return x + 1


def extend_and_pop(x, held):
    held.extend([x * 2, 7])
    held.pop(0)
    return x + 1


def insert_reverse_sort(x, held):
    held[1:] = [5, 2, 9]
    held.insert(2, 1)
    held.sort()
    held.reverse()
    return x + len(held)


def remove_and_refill(x, held):
    held.remove(3)
    held += [x + 2]
    del held[0]
    return x + 1


def replace_item(x, held):
    held[0] = x.sin()
    held[-1] = held[0]
    return x + 1


def dict_set(x, held):
    held["new"] = x * 2
    held["old"] = held["old"] + 1
    return x + 1


def dict_delete(x, held):
    del held["old"]
    held.pop("other")
    held.setdefault("made", []).append(x * 2)
    return x + 1


def dict_update(x, held):
    """The order of the keys is that of their insertion."""
    held.update({"z": 1, "old": 4}, a=x * 2)
    held["again"] = held.pop("z")
    return x + 1


def set_changed(x, held):
    held.add(3)
    held.discard(1)
    held |= {8}
    return x + 1


def deque_shifted(x, held):
    held.appendleft(x * 2)
    held.popleft()
    held.extend([8, 9])
    return x + 1


def default_made(x, held):
    held["a"].append(x * 2)
    held["b"]
    return x + 1


def tensor_in_list_written(x, held):
    held[0].mul_(2)
    held.append(held[0])
    return x + 1


def list_comes_out(x, held):
    """What comes out is the caller's own list."""
    held.append(x * 2)
    return held


def nested(x, held):
    held["list"][0]["inner"] = x * 2
    held["list"].append(held["list"])
    return x + 1


def global_list(x, held):
    RESULTS.append(x * 2)
    TABLE["new"] = 2
    return x + 1


def numbers(device):
    return [(torch.ones(2, device=device), [1, 3, 3])]


def tensor_list(device):
    return [(torch.ones(2, device=device), [torch.zeros(2, device=device), 1])]


def table(device):
    return [(torch.ones(2, device=device), {"old": 1, "other": 2})]


def some_set(device):
    return [(torch.ones(2, device=device), {1, 2})]


def some_deque(device):
    return [(torch.ones(2, device=device), collections.deque([1, 2, 3], maxlen=4))]


def default_table(device):
    return [(torch.ones(2, device=device), collections.defaultdict(list))]


def nest(device):
    return [(torch.ones(2, device=device), {"list": [{"outer": 1}]})]


PROGRAMS = [
    pytest.param(append_result, numbers, expected("""mul; add"""), id="list_append"),
    pytest.param(extend_and_pop, numbers, expected("""mul; add"""), id="list_extend_pop"),
    pytest.param(insert_reverse_sort, numbers, expected("""add"""), id="list_insert_sort_reverse"),
    pytest.param(remove_and_refill, numbers, expected("""add; add"""), id="list_remove"),
    pytest.param(replace_item, tensor_list, expected("""sin; add"""), id="list_item"),
    pytest.param(tensor_in_list_written, tensor_list, expected("""mul_; add"""), id="tensor_in_list"),
    pytest.param(list_comes_out, numbers, expected("""mul"""), id="list_comes_out"),
    pytest.param(dict_set, table, expected("""mul; add"""), id="dict_set"),
    pytest.param(dict_delete, table, expected("""mul; add"""), id="dict_delete"),
    pytest.param(dict_update, table, expected("""mul; add"""), id="dict_update"),
    pytest.param(set_changed, some_set, expected("""add"""), id="set"),
    pytest.param(deque_shifted, some_deque, expected("""mul; add"""), id="deque"),
    pytest.param(default_made, default_table, expected("""mul; add"""), id="defaultdict"),
    pytest.param(nested, nest, expected("""mul; add"""), id="nested"),
    pytest.param(global_list, numbers, expected("""mul; add"""), id="global"),
]


@pytest.mark.parametrize(("program", "calls", "operators"), PROGRAMS)
@needs("python_objects")
@clause("aot_autograd.side_effects.containers")
def test_containers_end_as_in_eager(stack, device, program, calls, operators):
    """A container of the caller's holds eager's contents in eager's order, and tensors in it are the same objects."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
