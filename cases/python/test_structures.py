"""Arguments and results of any structure: pytrees, records, None, numbers, strings, keywords, defaults."""

import collections
import dataclasses

import pytest
import torch
from torch.utils import _pytree as pytree

from conformance import call, clause, needs

Named = collections.namedtuple("Named", "a b")


@dataclasses.dataclass
class Record:
    a: torch.Tensor
    b: int = 2


class Pair:
    """A node of a pytree of the user's."""

    def __init__(self, left, right):
        self.left, self.right = left, right


pytree.register_pytree_node(Pair, lambda pair: ((pair.left, pair.right), None), lambda values, _: Pair(*values))


def many_kinds(a, /, b, *rest, c, d=4, **more):
    return a * (b * len(rest) * c * d * len(more)), list(more)


def of_pair(pair):
    return Pair(pair.left * pair.right, pair.left)


def mapped_pair(pair):
    return pytree.tree_map_only(torch.Tensor, lambda leaf: leaf * 2, pair)


def flattened(pair):
    leaves, spec = pytree.tree_flatten({"pair": pair, "list": [1, ("text",)]})
    return pytree.tree_unflatten([leaf * 2 for leaf in leaves], spec)


def of_record(record):
    return Record(record.a * record.b), dataclasses.replace(record, b=5)


def of_named(named):
    return Named(named.b * 2, named), named._replace(b=None)


def constants(x):
    return x * 2, None, 3, 4.5, "text", True, 2j, b"bytes", torch.float32, x.device, slice(1, 2), ..., range(3)


def containers(x):
    y = x * 2
    return {
        "ordered": collections.OrderedDict(b=y, a=1),
        "default": collections.defaultdict(list, a=[y]),
        "deque": collections.deque([y], 3),
        "set": {1, 2},
        "frozen": frozenset({3}),
        "size": x.shape,
        1: (y, [y]),
    }


def shared_inside(x):
    y = [x * 2]
    return y, y, {"same": y}


def maximum(x):
    y = x * 2
    return torch.return_types.max((y, y)), Named(y, y)


def functions(x):
    return x * 2, torch.sin, Named, len


def empty(x):
    x = x * 2
    return [], (), {}, [[]], ((), [x])


def same_objects(arguments, output):
    """Which parts of a result are one object."""
    parts = output if isinstance(output, tuple) else [output]
    return [[one is other for other in parts] for one in parts]


def three(device):
    return torch.arange(3.0, device=device)


def one(wrap):
    return lambda device: [wrap(three(device))]


PASSED = [
    pytest.param(many_kinds, one(lambda x: call(x, 2, 3, 4, c=5, e=1, f=2)), id="all_kinds"),
    pytest.param(many_kinds, one(lambda x: call(x, b=2, c=5, d=1, z=1)), id="by_keyword"),
    pytest.param(of_pair, one(lambda x: call(Pair(x, 3))), id="pytree"),
    pytest.param(mapped_pair, one(lambda x: call(Pair(x, (3, 1)))), id="mapped"),
    pytest.param(flattened, one(lambda x: call(Pair(x, 3))), id="flattened"),
    pytest.param(of_record, one(lambda x: call(Record(x))), id="dataclass"),
    pytest.param(of_named, one(lambda x: call(Named(1, x))), id="named_tuple"),
]
RESULTS = (
    constants,
    containers,
    pytest.param(shared_inside, id="shared_inside"),
    pytest.param(maximum, id="maximum"),
    pytest.param(functions, id="functions"),
    pytest.param(empty, id="empty"),
)


@pytest.mark.parametrize(("program", "calls"), PASSED)
@needs("python_objects")
@clause("python.structures.arguments")
def test_arguments(stack, device, program, calls):
    """Arguments arrive under eager's names, in eager's types."""
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""mul""")


@pytest.mark.parametrize("program", RESULTS)
@needs("python_objects")
@clause("python.structures.results")
def test_results(stack, device, program):
    """Results come out in eager's containers, with eager's fields, order and identities."""
    run = stack.run(program, one(call), after=same_objects)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""mul""")
