"""From how a case ended in pytest to its outcome, its result and what is printed about it."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

from conformance.canonical.expect import ExpectationUsage
from conformance.results.result_file import CaseResult
from conformance.suite.items import CASE, ENTRY, NOT_RUN, TARGET, clause_of
from conformance.suite.outcome import TIMEOUT, Failure, result, told, verdict
from conformance.suite.results_folder import script_name

#: Where a program that differs from eager is taken up the ladder; elsewhere nothing differs.
LADDER_PHASES = ("call", "backward", "follow_up")

Concluded = tuple[CaseResult, "Failure | None"]


def conclude(item: Any, call: Any, report: Any, scripts: Path | None) -> Concluded | None:
    """The result of a case, once it is known; turns pytest's report into the one that fits the outcome."""
    if call.when == "setup" and item.stash.get(NOT_RUN, None):
        return _result(item, call, *item.stash[NOT_RUN]), None
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
    report.outcome, report.longrepr = "failed", told(found, "")
    return found, None


def _called(item: Any, call: Any, report: Any, scripts: Path | None) -> Concluded:
    error = call.excinfo.value if call.excinfo is not None else None
    failure = _failure(item, error) if error is not None else None
    outcome, reason = verdict(failure, item.stash[ENTRY])
    divergence, script = (None, None) if outcome != "fail" else _aids(item, error, failure, scripts)
    if outcome == "pass":
        reason = "; ".join(dict.fromkeys(f"saw {run.saw}" for run in _runs(item) if run.saw))
    found = _result(item, call, outcome, reason, failure=failure, first_divergence=divergence)
    if outcome == "known_failure":
        report.outcome, report.wasxfail = "skipped", reason
    elif outcome in ("fail", "unexpected_pass"):
        report.outcome = "failed"
        message = told(found, str(error) if error is not None else "")
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
        item.stash[CASE],
        item.stash[TARGET],
        outcome,
        reason,
        clause=clause_of(item),
        seconds=call.duration,
        runs=[run.record() for run in _runs(item)],
        **more,
    )


def _runs(item: Any) -> list[Any]:
    bound = getattr(item, "funcargs", {}).get("stack")
    return bound.runs if bound is not None else []


def _aids(
    item: Any, error: BaseException | None, failure: Failure | None, scripts: Path | None
) -> tuple[str | None, str | None]:
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
        return divergence, _write_script(item, run, divergence, scripts)
    except Exception as trouble:
        return divergence, f"none: {trouble}"


def _write_script(item: Any, run: Any, divergence: str | None, scripts: Path) -> str:
    from conformance.run.script import script

    text = script(run, title=item.stash[CASE], first_divergence=divergence)
    path = scripts / script_name(item.stash[CASE], item.stash[TARGET])
    scripts.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)
