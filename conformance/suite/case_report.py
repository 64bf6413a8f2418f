"""From how a case ended in pytest to its outcome, its result and what is printed about it."""

from __future__ import annotations

import shlex
import traceback
from pathlib import Path
from typing import Any

import pytest

from conformance.canonical.expect import ExpectationUsage
from conformance.contract.failure import CaseFailure
from conformance.results.result_file import CaseResult
from conformance.stacks import given
from conformance.standalone.writing import ScriptOutcome, write_script
from conformance.suite.outcome import TIMEOUT, Failure, result, told, verdict

#: Where a program that differs from eager is taken up the ladder; elsewhere nothing differs.
LADDER_PHASES = ("call", "backward", "follow_up")

Concluded = tuple[CaseResult, "Failure | None"]


def conclude(item: Any, call: Any, report: Any, scripts: Path | None) -> Concluded | None:
    """The result of a case, once it is known; turns pytest's report into the one that fits the outcome."""
    if call.when == "setup" and getattr(item, "conformance_not_run", None):
        return _result(item, call, *item.conformance_not_run), None
    if hasattr(report, "wasxfail"):
        del report.wasxfail
        return _fault(item, call, report, "is marked xfail; a known failure belongs in a ledger")
    if report.skipped:
        reason = str(call.excinfo.value)
        if call.when == "setup" and _declares_skip(item) and reason not in ("", "unconditional skip"):
            return _result(item, call, "not_applicable", f"the case says: {reason}"), None
        return _fault(item, call, report, f"skips itself: {reason}; declare it with a reason, or with @needs(...)")
    if call.when == "call":
        return _called(item, call, report, scripts)
    if not report.failed:
        return None
    error = call.excinfo.value
    reason = f"a fault of the case or the suite in {call.when}: {type(error).__name__}: {error}"
    return _result(item, call, "error", reason), None


def _declares_skip(item: Any) -> bool:
    """Whether anybody can see beforehand that the case may be skipped (eager itself does not do it on a release)."""
    return any(item.get_closest_marker(name) for name in ("skip", "skipif"))


def _fault(item: Any, call: Any, report: Any, what: str) -> Concluded:
    """A case that hides its outcome from the suite: an error, never a skip."""
    found = _result(item, call, "error", f"a fault of the case: it {what}")
    report.outcome, report.longrepr = "failed", told(found, "", alone(item))
    return found, None


def _called(item: Any, call: Any, report: Any, scripts: Path | None) -> Concluded:
    error = call.excinfo.value if call.excinfo is not None else None
    failure = _failure(item, error) if error is not None else None
    outcome, reason = verdict(failure, item.conformance_entry)
    divergence, script = (None, None) if outcome != "fail" else _aids(item, error, failure, scripts)
    if outcome == "pass":
        reason = "; ".join(dict.fromkeys(f"saw {run.saw}" for run in _runs(item) if run.saw))
    found = _result(item, call, outcome, reason, failure=failure, first_divergence=divergence)
    if script is not None and script.path is not None:
        found.script, found.script_shows = str(script.path), script.shows
    if outcome == "known_failure":
        report.outcome, report.wasxfail = "skipped", reason
    elif outcome in ("fail", "unexpected_pass"):
        report.outcome = "failed"
        message = told(found, str(error) if error is not None else "", alone(item))
        report.longrepr = f"{message}\n  script: {script}" if script else message
    return found, failure


def _failure(item: Any, error: BaseException) -> Failure:
    if isinstance(error, ExpectationUsage):
        return Failure("expectation", exception=type(error).__name__, message=str(error), of_the_suite=True)
    if isinstance(error, pytest.fail.Exception):
        if str(error).startswith("Timeout "):  # pytest-timeout's way of stopping a case
            return Failure(
                "call", exception=TIMEOUT, message=f"the stack hung: no result within {item.config.option.timeout:g} s"
            )
        return Failure("call", frozenset({"assertion"}), None, str(error))
    return Failure.of(error)


def _result(item: Any, call: Any, outcome: str, reason: str, **more: Any) -> CaseResult:
    return result(
        item.conformance_case_id,
        item.conformance_target,
        outcome,
        reason,
        clause=getattr(item.function, "conformance_clause", None),
        seconds=call.duration,
        runs=[run.record() for run in _runs(item)],
        **more,
    )


def _runs(item: Any) -> list[Any]:
    bound = getattr(item, "funcargs", {}).get("stack")
    return bound.runs if bound is not None else []


def _aids(
    item: Any, error: BaseException | None, failure: Failure | None, scripts: Path | None
) -> tuple[str | None, ScriptOutcome | None]:
    """What helps with a failure: the first diverging rung, and a stand-alone script. Neither may hide the failure."""
    bound = item.funcargs.get("stack")
    run = getattr(error, "run", None) or (bound.runs[-1] if bound is not None and bound.runs else None)
    if run is None:
        return None, None
    divergence: str | None = None
    if failure is not None and failure.phase in LADDER_PHASES and failure.exception != TIMEOUT:
        try:
            divergence = run.first_divergence()
        except Exception as trouble:
            item.add_report_section("call", "first divergence", "".join(traceback.format_exception(trouble)))
    if scripts is None:
        return divergence, None
    try:
        of_the_case = error if isinstance(error, CaseFailure) else None
        where = (item.conformance_case_id, item.conformance_target, scripts)
        return divergence, write_script(run, *where, failure=of_the_case, first_divergence=divergence, run_it=False)
    except Exception as trouble:
        return divergence, ScriptOutcome(None, None, str(trouble))


def alone(item: Any) -> str:
    """The command that runs one case alone, with stack and ledgers as they were given."""
    target, ledgers = item.conformance_target, item.config.option.known_failures
    command = ["conformance", "run", "--case", item.conformance_case_id]
    command += ["--stack", given(target.stack), "--device", target.device]
    return shlex.join([*command, *(part for one in ledgers for part in ("--known-failures", one))])
