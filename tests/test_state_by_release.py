"""The part of the state page that says which faults of torch are new and gone in each release."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.report.state.by_release import COUNTED, by_release
from conformance.report.state.faults import Fault
from conformance.results.bugs import Bug
from conformance.results.result_file import CaseResult, Results

BUGS = {name: Bug(name, f"what {name} breaks", "unreported", f"{name}.py") for name in ("always", "came", "went")}
RANGES = {"always": ">=2.9", "came": ">=2.10", "went": ">=2.9,<2.10"}
FAULTS = [Fault(bug, "silent", ("inductor",), RANGES[name], 1, 1) for name, bug in BUGS.items()]


def run(
    release: str, cases: Mapping[str, str], stack: str = "inductor", device: str = "cpu", incomplete: bool = False
) -> Results:
    """A run in which each case shows a bug, passes, or is not applicable."""
    results = [
        CaseResult(case, [], "layout", stack, device, "known_failure", str(BUGS[shown]))
        if shown in BUGS
        else CaseResult(case, [], "layout", stack, device, shown)
        for case, shown in cases.items()
    ]
    return Results(environment={"torch": release}, results=results, incomplete=incomplete)


def told(*runs: Results, failing: Mapping[str, set[str]] | None = None) -> list[str]:
    """The parts of the page, but for the sentence that is always the same."""
    return [part for part in by_release(FAULTS, {"inductor", "aot_eager"}, runs, failing or {}) if part != COUNTED]


def test_what_came_and_went_is_named() -> None:
    """By release, whatever the order of the files, and with the stacks on which it did."""
    old = {"a": "always", "b": "pass", "c": "went"}
    new = {"a": "always", "b": "came", "c": "pass"}
    runs = [
        run(release, cases, stack)
        for release, cases in (("2.11.0", new), ("2.9.1+cpu", old))
        for stack in ("inductor", "aot_eager")
    ]
    table, title, items = told(*runs)

    assert table.splitlines()[2:] == [
        "| aot_eager | cpu | 2.9.1 | 2 | 0 | 0 | 0 | 0 | 2 | - | - |",
        "| aot_eager | cpu | 2.11.0 | 2 | 0 | 0 | 0 | 0 | 2 | 1 | 1 |",
        "| inductor | cpu | 2.9.1 | 2 | 0 | 0 | 0 | 0 | 2 | - | - |",
        "| inductor | cpu | 2.11.0 | 2 | 0 | 0 | 0 | 0 | 2 | 1 | 1 |",
    ]
    assert title == "### Torch 2.11.0 on cpu"
    assert items.splitlines() == [
        "- new: what came breaks (silent, `came`; aot_eager, inductor)",
        "- gone: what went breaks (silent, `went`; aot_eager, inductor)",
    ]


def test_a_fault_whose_cases_did_not_run_is_neither_new_nor_gone() -> None:
    """A release that cannot do what the case asks for says nothing of the fault."""
    (table,) = told(run("2.9.1", {"b": "not_applicable"}), run("2.10.0", {"b": "came"}), run("2.11.0", {"a": "pass"}))

    assert [line.split("| ")[-2:] for line in table.splitlines()[3:]] == [["0 ", "0 |"], ["0 ", "0 |"]]


def test_a_fault_that_a_ledger_lists_is_there_though_no_case_shows_it() -> None:
    """Another fault may hide it in the case, and other rows and signatures may have it."""
    (table,) = told(run("2.9.1", {"a": "always"}), run("2.10.0", {"a": "pass"}), run("2.11.0", {"a": "always"}))

    assert [line.split("| ")[-2:] for line in table.splitlines()[3:]] == [["0 ", "0 |"], ["0 ", "0 |"]]


def test_a_fault_whose_script_fails_is_there_though_no_case_shows_it() -> None:
    """A row that has two faults names one of them."""
    runs = [run("2.9.1", {"a": "went"}), run("2.10.0", {"a": "pass"})]
    assert len(told(*runs)) > 1
    assert len(told(*runs, failing={"went.py": {"2.9.1", "2.10.0"}})) == 1


def test_one_release_is_compared_with_none() -> None:
    """Another device, a run that was ended and somebody else's stack are no other release."""
    cases = {"a": "always"}
    others = [
        run("2.11.0", cases, device="cuda"),
        run("2.11.0", cases, incomplete=True),
        run("2.11.0", cases, stack="openvino"),
    ]
    assert told(run("2.9.1", cases), *others) == []
