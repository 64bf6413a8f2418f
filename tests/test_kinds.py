"""Kinds of faults that torch is known to have had: a program of each, and what the oracle says of it by release."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from conformance.run.check import check_file
from conformance.stacks import resolve

KINDS = Path(__file__).parent / "kinds"
RELEASE = Version(".".join(map(str, Version(torch.__version__).release[:2])))

#: Kind, stack, the torch releases that break the promise (seen on 2.9, 2.13 and 2.15), and what shows it there first.
BROKEN = [
    ("overlap_appears", "aot_eager", ">=2.9", "calls[1].outputs[0].value"),
    ("view_of_other_alias", "aot_eager", ">=2.9", "exception"),
    ("overlap_of_other_size", "aot_eager", ">=2.9", "exception"),
    ("windows_with_gaps", "aot_eager", ">=2.9", "arguments[0].value"),
    ("dropout_that_drops_nothing", "aot_eager", "<2.15", "arguments[0].value"),
    ("contiguous_that_copies_nothing", "aot_eager", ">=2.9", "exception"),
    ("one_reduction_twice", "aot_eager", ">=2.9", "outputs[1].identity"),
    ("view_without_history", "aot_eager", ">=2.9", "outputs[0].requires_grad"),
    ("parameter_of_an_intermediate", "aot_eager", ">=2.9", "exception"),
    ("differentiated_twice", "aot_eager", ">=2.9", "exception"),
    ("bytes_of_a_transposed_copy", "inductor", "<2.13", "exception"),
    ("clone_written_back", "inductor", "<2.15", "outputs[0].identity"),
    ("copies_before_a_fill", "inductor", ">=2.9", "outputs[1].value"),
    ("gradients_under_a_forced_layout", "inductor", ">=2.9", "after[0].stride"),
    ("like_a_transposed_row", "inductor", ">=2.9", "outputs[0].size_1_stride"),
    ("masked_write_before_a_clone", "inductor", "<2.15", "arguments[0].value"),
    ("one_column_of_a_permuted_tensor", "inductor", ">=2.9", "outputs[0].size_1_stride"),
    ("product_with_one", "inductor", ">=2.15", "outputs[0].identity"),
    ("quantized_transposed_input", "inductor", ">=2.13", "exception"),
    ("sum_with_zeros", "inductor", ">=2.9", "outputs[0].identity"),
    ("views_that_change_nothing", "inductor", "<2.15", "outputs[1].identity"),
]

#: Programs on which a stack is right: what the oracle must be silent about.
KEPT = [
    ("keeps_every_promise", "aot_eager"),
    ("keeps_every_promise", "inductor"),
    ("training_step", "aot_eager"),
    ("training_step", "inductor"),
    ("raises_as_it_should", "aot_eager"),
    ("flag_of_a_weight", "aot_eager"),
    ("write_through_data", "aot_eager"),
    ("saved_input_overwritten", "inductor"),
    ("constants_of_two_calls", "inductor"),
]


def found(kind: str, stack: str) -> list[str]:
    """The names of what differs, in order."""
    record = check_file(str(KINDS / f"{kind}.py"), resolve(stack), "cpu")
    return [".".join(filter(None, (one["where"], one["observable"]))) for one in record["discrepancies"]]


@pytest.mark.parametrize(("kind", "stack", "broken", "observable"), BROKEN, ids=["-".join(one[:2]) for one in BROKEN])
def test_a_known_fault_is_found_where_torch_has_it(kind: str, stack: str, broken: str, observable: str) -> None:
    """The oracle reports a fault on the releases that have it, first of all where it shows, and nothing elsewhere."""
    assert found(kind, stack)[:1] == ([observable] if RELEASE in SpecifierSet(broken) else [])


@pytest.mark.parametrize(("kind", "stack"), KEPT, ids=[f"{kind}-{stack}" for kind, stack in KEPT])
def test_a_promise_that_is_kept_is_not_reported(kind: str, stack: str) -> None:
    """Where the stack does as eager does, the oracle is silent, for writes, views, errors and state alike."""
    assert found(kind, stack) == []


@pytest.mark.parametrize("kind", sorted(file.stem for file in KINDS.glob("*.py")))
def test_eager_keeps_every_promise(kind: str) -> None:
    """Eager against itself differs in nothing."""
    assert found(kind, "eager") == []


def test_every_kind_is_judged() -> None:
    """Each program is in a table, so that none is kept for nothing."""
    assert {file.stem for file in KINDS.glob("*.py")} == {one[0] for one in (*BROKEN, *KEPT)}
