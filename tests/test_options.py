"""The options of a run: one declaration for the command line, pytest, the workers and the results."""

from __future__ import annotations

from dataclasses import fields

import pytest
import typer

from conformance.commands import cases
from conformance.suite.options import RunOptions, UsageError, flag_of


def test_every_option_of_pytest_is_one_of_the_command_line(pytestconfig: pytest.Config) -> None:
    """Plain pytest and `conformance run` take the same options."""
    app = typer.Typer()
    app.command()(cases.run_command())
    command = typer.main.get_command(app)
    known = {one for parameter in command.params for one in parameter.opts}

    assert {flag_of(one) for one in fields(RunOptions)} <= known


def test_arguments_say_what_is_not_as_it_is_anyway() -> None:
    """A list repeats its option, a switch has no value, and what nobody stated is left to pytest."""
    options = RunOptions(stack=["a", "b"], scope="core", speedups=True, keyword="x y")

    assert RunOptions().arguments() == []
    assert options.arguments() == [
        "--stack=a",
        "--stack=b",
        "-k",
        "x y",
        "--scope=core",
        "--speedups",
    ]


def test_workers_and_results_know_the_options() -> None:
    """The environment tells processes of the run what they must know; results say what a run does otherwise."""
    options = RunOptions(threads=4, speedups=True)
    saved = options.saved()

    assert options.environment() == {"CONFORMANCE_THREADS": "4", "CONFORMANCE_SPEEDUPS": "1"}
    assert (saved["threads"], saved["speedups"], saved["scope"]) == (4, True, "quick")
    assert "An operator uses 4 threads." in saved["left_out"]
    assert set(RunOptions().saved()["left_out"]) & set(saved["left_out"])
    assert any("linker" in sentence for sentence in saved["left_out"])
    assert not any("linker" in sentence for sentence in RunOptions().saved()["left_out"])
    assert "results" not in saved


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"threads": 0}, "--threads takes a number from 1 on, not 0"),
        ({"timeout": -1.0}, "--timeout takes seconds, more than 0, not -1"),
        ({"scope": "slow"}, "unknown scope 'slow'; known: core, quick, full, nightly"),
        ({"workers": "x"}, "-n takes a number or auto, not 'x'"),
        ({"resume": "gone"}, "--resume: there is no folder gone"),
    ],
    ids=["threads", "timeout", "scope", "workers", "resume"],
)
def test_what_no_run_can_be_made_of(stated: dict[str, object], says: str) -> None:
    """Refused in one line that says what is possible."""
    with pytest.raises((ValueError, UsageError)) as caught:
        RunOptions(**stated).check()  # type: ignore[arg-type]
    assert str(caught.value) == says
