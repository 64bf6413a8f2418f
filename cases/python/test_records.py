"""Dataclasses, frozen or not, and named tuples that a program makes, changes and replaces."""

import collections
import dataclasses

import pytest
import torch

from conformance import clause, expected, needs


@dataclasses.dataclass
class Record:
    a: int = 1
    b: list = dataclasses.field(default_factory=list)
    total: int = dataclasses.field(init=False)

    def __post_init__(self):
        self.total = self.a + 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


Named = collections.namedtuple("Named", "a b")


def change_record(x, held):
    held.a += 2
    held.b.append(held.total)
    return x * held.a, dataclasses.replace(held, a=7), dataclasses.astuple(held)


def make_records(x, held):
    made = Record(4)
    made.b.append(x * 2)
    return x * made.total, made, Record(4) == made


def refuse(x, held):
    try:
        held.a = 2
    except dataclasses.FrozenInstanceError:
        return x * 2
    return x * 3


def replace_frozen(x, held):
    return x * 2, dataclasses.replace(held, a=5), hash(held) == hash(Frozen(1))


def replace_named(x, held):
    made = held._replace(a=x * 2)
    return made, made._asdict(), Named._make([1, 2]), x * held.b


def on(make):
    return lambda device: [(torch.arange(3.0, device=device), make())]


RECORDS = [
    pytest.param(change_record, Record, expected("""mul"""), id="changed"),
    pytest.param(make_records, Record, expected("""mul; mul"""), id="made"),
    pytest.param(refuse, Frozen, expected("""mul"""), id="frozen"),
    pytest.param(replace_frozen, Frozen, expected("""mul"""), id="frozen_replaced"),
    pytest.param(replace_named, lambda: Named(1, 2), expected("""mul; mul"""), id="named_tuple"),
]


@pytest.mark.parametrize(("program", "make", "operators"), RECORDS)
@needs("python_objects")
@clause("python.objects.records")
def test_record(stack, device, program, make, operators):
    """Records that are changed, made and replaced are eager's, and a frozen one refuses."""
    run = stack.run(program, on(make))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)
