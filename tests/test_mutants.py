"""Mutants: each is one stack with one defect that names its clause, and the trials tell killed from surviving."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from oracle_runs import reported

from conformance import tensors
from conformance.contract.registry import UnknownClause, clauses
from conformance.mutants import all_mutants
from conformance.mutants.base import around, editing, patching
from conformance.mutants.kill_trials import Verdicts, chosen
from conformance.report.mutants import kill_matrix
from conformance.run.bound_stack import BoundStack
from conformance.stacks import resolve
from conformance.suite.options import UsageError

#: The ways in which a stack is silently wrong that must never pass, as mutants.
WRONG_WAYS = {
    "drops write-backs": "write_backs_dropped",
    "clones outputs that should alias": "outputs_cloned",
    "makes outputs contiguous": "outputs_made_contiguous",
    "returns a stale result on the second call": "first_result_again",
    "scales gradients": "gradients_scaled",
    "merges two equal outputs": "equal_outputs_merged",
    "mutates an input it should not": "input_touched",
    "hides a version bump": "version_bump_hidden",
    "swallows an exception": "exception_swallowed",
    "leaks grad mode": "grad_mode_leaked",
    "draws random numbers": "random_numbers_drawn",
}


def double(x):
    return x * 2


@pytest.mark.parametrize("name", all_mutants())
def test_a_mutant_names_its_clause_and_is_found_by_its_name(name: str) -> None:
    """Every mutant breaks a clause that exists, says its defect, and is the stack that its spec names."""
    mutant = all_mutants()[name]

    assert mutant.breaks in clauses()
    assert mutant.defect.endswith(".")
    assert resolve(mutant.spec) is mutant
    assert mutant.capabilities == resolve(mutant.base).capabilities


def test_a_mutant_of_an_unknown_clause_is_refused() -> None:
    """A clause that does not exist is refused where the mutant is defined, with the nearest that does."""
    with pytest.raises(UnknownClause, match=r"aot_autograd\.mutation\.writeback"):

        @around("aot_autograd.mutation.write_back")
        def dropped(compiled):
            """Something."""
            return compiled


def _doubled_differs(mutant: BoundStack) -> list[str]:
    return reported(mutant.run(double, tensors((3,), device="cpu")))


def test_a_defect_sits_around_the_callable_in_the_graph_or_in_torch() -> None:
    """Each way of writing a mutant makes the stack wrong, and only while that stack runs."""

    @around("aot_autograd.mutation.writeback")
    def outside(compiled):
        """One is added to what is returned."""
        return lambda *args: compiled(*args) + 1

    @editing("aot_autograd.mutation.writeback")
    def inside(module):
        """A product is a sum."""
        for node in module.graph.nodes:
            if node.op == "call_function":
                node.target = torch.add

    @patching("aot_autograd.mutation.writeback")
    def around_torch():
        """Every new tensor default is another dtype while the program runs."""
        torch.set_default_dtype(torch.float64)
        yield
        torch.set_default_dtype(torch.float32)

    assert _doubled_differs(BoundStack(outside, "cpu")) == ["outputs[0].value"]
    assert _doubled_differs(BoundStack(inside, "cpu")) == ["outputs[0].value"]
    assert torch.get_default_dtype() is torch.float32
    around_torch.patch().__enter__()
    assert torch.get_default_dtype() is torch.float64
    torch.set_default_dtype(torch.float32)
    assert _doubled_differs(BoundStack(resolve("aot_eager"), "cpu")) == []


def test_a_defect_of_the_minifier_is_named_for_its_processes() -> None:
    """What a mutant of the minifier patches, it patches in the processes of the steps, found by name there."""
    mutant = all_mutants()["launcher_not_written"]
    assert mutant.minifiable().patches == ("conformance.mutants.in_minifier.minifier:launcher_not_written.in_steps",)
    assert resolve("aot_eager").minifiable().patches == ()


def test_unknown_names_are_refused() -> None:
    """An unknown mutant, and an area without one, are one line that says what exists."""
    with pytest.raises(UsageError, match=r"unknown mutant 'outputs_clone'.*outputs_cloned"):
        chosen(["outputs_clone"], [])
    with pytest.raises(UsageError, match="no mutant breaks a clause of generated"):
        chosen(["outputs_cloned"], ["generated"])


def test_the_matrix_names_survivors_and_idle_cases() -> None:
    """A mutant that no case kills survives; a case that was tried and killed nothing is listed."""
    first, second = chosen(["outputs_cloned", "outputs_detached"], [])
    verdicts = Verdicts([first, second], {first.name: ["a/test_b.py::test_c[d]"]}, {"a/test_b.py::test_c", "a::test_e"})

    assert verdicts.survivors == [second]
    assert verdicts.idle == ["a::test_e"]
    assert verdicts.to_json()["mutants"][1] == {
        "name": "outputs_detached",
        "breaks": second.breaks,
        "killed": False,
        "killed_by": None,
    }
    text = kill_matrix([("m", "c", ["k"]), ("n", "c", [])], [], verdicts.idle, ["u"])
    assert text.splitlines()[0].split() == ["m", "c", "killed", "by", "k"]
    assert "SURVIVES" in text
    assert text.endswith("1 of 2 mutants killed")
    assert "nothing was tried" in kill_matrix([("m", "c", [])], ["eager: fails"], [], [])


def test_every_wrong_way_is_caught_by_a_case() -> None:
    """A stack that is wrong in one of the ways that go unnoticed elsewhere is caught by at least one case."""
    arguments = [f"--mutant={name}" for name in WRONG_WAYS.values()]
    program = "from conformance.cli import main; main()"
    command = [sys.executable, "-c", program, "mutants", "--json", "-n", "2", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    matrix = json.loads(done.stdout)
    assert matrix["total"] == len(WRONG_WAYS)
    assert [one["name"] for one in matrix["mutants"] if not one["killed"]] == []
