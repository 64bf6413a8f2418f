"""From how a case ended in pytest to its outcome, its result and what is printed about it."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from conformance import session
from conformance.expect import ExpectationUsage
from conformance.results import CaseResult


def conclude(item: Any, call: Any, report: Any, scripts: Path | None) -> CaseResult | None:
    """The result of a case, once it is known; turns pytest's report into the one that fits the outcome."""
    if call.when == "setup":
        if item.conformance_not_run:
            return _result(item, call, *item.conformance_not_run)
        return _error(item, call, report) if report.failed else None
    if call.when == "teardown":
        return _error(item, call, report) if report.failed else None
    return _called(item, call, report, scripts)


def _called(item: Any, call: Any, report: Any, scripts: Path | None) -> CaseResult:
    if report.skipped:
        return _result(item, call, "error", f"a case skipped itself: {call.excinfo.value}")
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, ExpectationUsage):
        failure: session.Failure | None = session.Failure("expectation", exception=str(error), of_the_suite=True)
    else:
        failure = session.Failure.of(error) if error is not None else None
    outcome, reason = session.verdict(failure, item.conformance_entry)
    divergence, script = (None, None) if outcome != "fail" else _help(item, error, scripts)
    found = _result(item, call, outcome, reason, failure=failure, first_divergence=divergence)
    if outcome == "known_failure":
        report.outcome, report.wasxfail = "skipped", reason
    elif outcome in ("fail", "unexpected_pass"):
        report.outcome = "failed"
        message = session.told(found, str(error) if error is not None else "")
        report.longrepr = f"{message}\n  script: {script}" if script else message
    return found


def _error(item: Any, call: Any, report: Any) -> CaseResult:
    error = call.excinfo.value
    return _result(item, call, "error", f"a fault of the case or the suite: {type(error).__name__}: {error}")


def _result(item: Any, call: Any, outcome: str, reason: str, **more: Any) -> CaseResult:
    bound = getattr(item, "funcargs", {}).get("stack")
    return session.result(
        item.conformance_case_id,
        item.conformance_target,
        outcome,
        reason,
        clause=getattr(item.function, "conformance_clause", None),
        seconds=call.duration,
        runs=[run.record() for run in bound.runs] if bound is not None else [],
        **more,
    )


def _help(item: Any, error: BaseException | None, scripts: Path | None) -> tuple[str | None, str | None]:
    """What helps with a failure: the first diverging rung, and a stand-alone script. Neither may hide the failure."""
    bound = item.funcargs.get("stack")
    run = getattr(error, "run", None) or (bound.runs[-1] if bound is not None and bound.runs else None)
    if run is None:
        return None, None
    try:
        divergence: str | None = run.first_divergence()
    except Exception as trouble:
        divergence = None
        item.add_report_section("call", "first divergence", "".join(traceback.format_exception(trouble)))
    if scripts is None:
        return divergence, None
    from conformance.script import ScriptError, script

    target = item.conformance_target
    path = scripts / session.script_name(item.conformance_case_id, target)
    try:
        text = script(run, title=item.conformance_case_id, first_divergence=divergence)
    except ScriptError as trouble:
        return divergence, f"none: {trouble}"
    scripts.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return divergence, str(path)
