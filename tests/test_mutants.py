"""Mutants: each is one stack with one defect that names its clause, and the trials tell killed from surviving."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from oracle_runs import reported

from conformance import cli, tensors
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

    assert mutant.breaks
    assert set(mutant.breaks) <= set(clauses())
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
    """A mutant survives with each clause that no case kills it for; a case that was tried and killed nothing is listed.

    Those that are wrong for every program have a rate of their own.
    """
    cloned, detached, off = chosen(["outputs_cloned", "outputs_detached", "outputs_off_by_rounding"], [])
    history, norm = detached.breaks
    killed_by = {(cloned.name, cloned.breaks[0]): ["a/test_b.py::test_c[d]"], (detached.name, history): ["a::test_f"]}
    verdicts = Verdicts([cloned, detached, off], killed_by, {"a/test_b.py::test_c", "a::test_e", "a::test_f"})

    assert verdicts.survivors == [detached, off]
    assert verdicts.idle == ["a::test_e"]
    matrix = verdicts.to_json()
    assert matrix["mutants"][:2] == [
        {
            "name": "outputs_cloned",
            "breaks": list(cloned.breaks),
            "plain": False,
            "killed": True,
            "killed_by": "a/test_b.py::test_c[d]",
            "survives": [],
        },
        {
            "name": "outputs_detached",
            "breaks": [history, norm],
            "plain": False,
            "killed": False,
            "killed_by": None,
            "survives": [norm],
        },
    ]
    assert (matrix["killed"], matrix["total"]) == (1, 3)
    assert matrix["real"] == {"killed": 1, "total": 2}
    assert matrix["plain"] == {"killed": 0, "total": 1}
    text = kill_matrix([("m", "c", ["k"]), ("n", "c", [])], verdicts.rates(), [], verdicts.idle, ["u"])
    assert text.splitlines()[0].split() == ["m", "c", "killed", "by", "k"]
    assert "SURVIVES" in text
    assert text.endswith("1 of 2 real mutants killed\n0 of 1 plain mutants killed\n1 of 3 mutants killed")
    assert "nothing was tried" in kill_matrix([("m", "c", [])], {}, ["eager: fails"], [], [])


def test_mutants_are_chosen_by_each_area_that_they_break() -> None:
    """A mutant of clauses of two areas is one of either."""
    assert {"aot_autograd", "freezing"} == chosen(["outputs_detached"], ["freezing"])[0].areas
    assert all("layout" in mutant.areas for mutant in chosen([], ["layout"]))


def test_nothing_that_changed_is_an_empty_matrix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What reads the JSON gets some, and no mutant is no survivor."""
    monkeypatch.setattr("conformance.mutants.kill_trials.changed_since", lambda commit: set())
    monkeypatch.setattr(sys, "argv", ["conformance", "mutants", "--changed", "HEAD", "--json"])
    with pytest.raises(SystemExit) as caught:
        cli.main()

    told = capsys.readouterr()
    none = {"killed": 0, "total": 0}
    assert (caught.value.code, json.loads(told.out)) == (0, {"mutants": [], **none, "real": none, "plain": none})
    assert told.err == "no mutant's module changed since HEAD\n"


def test_no_two_mutants_have_the_same_body() -> None:
    """One defect is one mutant, however many clauses it breaks."""
    bodies: dict[tuple[str, ...], str] = {}
    for name, mutant in all_mutants().items():
        module, _, function = mutant.spec.partition(":")
        tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
        found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
        how = ast.unparse(found.decorator_list[0]).partition("(")[0]
        assert bodies.setdefault((how, *map(ast.unparse, found.body[1:])), name) == name


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
