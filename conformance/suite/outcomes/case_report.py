"""From how a case ended in pytest to its outcome, its result and what is printed about it."""

from __future__ import annotations

import shlex
import traceback
from pathlib import Path
from typing import Any

import pytest

from conformance.canonical.expect import ExpectationUsage
from conformance.contract.failure import CaseFailure, Discrepancy, NothingToTry, of_part
from conformance.results.result_file import CaseResult
from conformance.run.attribution import first_divergence, inherited, rungs_below
from conformance.stacks import given
from conformance.standalone.writing import ScriptOutcome, write_script
from conformance.suite.items import CASE, ENTRY, INHERITED, NOT_RUN, OUTCOMES_ONLY, TARGET, clause_of
from conformance.suite.outcomes.outcome import COMPARED, TIMEOUT, Blame, Failure, blame, bug_of, result, told, verdict

#: Why a case is not applicable that asks a stack for nothing but texts which others answer for.
UNSAID = "asks for texts of torch's own stacks only"

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
    report.outcome, report.longrepr = "failed", told(found, "", alone(item))
    return found, None


def _called(item: Any, call: Any, report: Any, scripts: Path | None) -> Concluded:
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, NothingToTry):
        report.outcome = "passed"
        return _result(item, call, "not_applicable", str(error)), None
    failure = _failure(item, error) if error is not None else None
    blamed = _blame(item, error, failure) if failure is not None and not failure.of_the_suite else None
    outcome, reason = verdict(failure, item.stash[ENTRY], blamed)
    if outcome == "pass" and _bound(item) is not None and _bound(item).says_nothing:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, UNSAID)
        return _result(item, call, "not_applicable", UNSAID), None
    helped = outcome == "fail" and not item.config.stash.get(OUTCOMES_ONLY, False)
    divergence, script = _aids(item, error, failure, blamed, scripts) if helped else (None, None)
    if outcome == "pass":
        reason = "; ".join(dict.fromkeys(f"saw {run.saw}" for run in _runs(item) if run.saw))
    if outcome == "inherited" and blamed is not None:
        divergence = next(iter(blamed.inherited))
    bug = bug_of(failure, item.stash[ENTRY], blamed)
    if outcome == "fail" and blamed is not None:
        failure = blamed.own
    found = _result(item, call, outcome, reason, failure=failure, first_divergence=divergence, bug=bug)
    if script is not None:
        found.script = str(script.path) if script.path is not None else None
        found.script_shows, found.script_reason = script.shows, script.reason or None
    if outcome in ("known_failure", "inherited"):
        report.outcome, report.wasxfail = "skipped", reason
    elif outcome in ("fail", "unexpected_pass"):
        report.outcome = "failed"
        message = told(found, _message(error, blamed), alone(item))
        report.longrepr = f"{message}\n  script: {script}" if script else message
    return found, failure


def _message(error: BaseException | None, blamed: Blame | None) -> str:
    """What is printed of a failure: the stack's own discrepancies, and apart from them those of torch's rungs."""
    if blamed is None or blamed.own is None or not blamed.inherited:
        return str(error) if error is not None else ""
    lines = [str(error).splitlines()[0], *(f"  {one}" for one in blamed.own.discrepancies)]
    for rung, found in blamed.inherited.items():
        lines += [f"  not this stack's, {rung} does likewise:", *(f"    {one}" for one in found)]
    return "\n".join(lines)


def _blame(item: Any, error: BaseException | None, failure: Failure) -> Blame:
    """What of a failure is the stack's own. The rungs below are run unless the ledger lists just this failure."""
    run, entry, listed = _run(item, error), item.stash[ENTRY], item.stash[INHERITED]
    if run is None:
        return blame(failure, listed)
    listed = {rung: one for rung, one in listed.items() if rung in rungs_below(run)}
    known = entry is not None and entry.explains(failure.phase, failure.observables, failure.exception)
    if run.stack.exact or known or not failure.discrepancies or failure.exception == TIMEOUT:
        return blame(failure, listed)
    try:
        shown: dict[Discrepancy, str] = {}
        for name, part in (getattr(error, "parts", None) or {"": run}).items():
            own = of_part(failure.discrepancies, name)
            shown |= {own[one]: rung for one, rung in inherited(part, own).items()}
        return blame(failure, listed, shown)
    except Exception as trouble:
        item.add_report_section("call", "the rungs below", "".join(traceback.format_exception(trouble)))
        return blame(failure, listed)


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
    found = result(
        item.stash[CASE],
        item.stash[TARGET],
        outcome,
        reason,
        clause=clause_of(item),
        seconds=call.duration,
        runs=[run.record() for run in _runs(item)],
        **more,
    )
    found.alone = None if found.as_expected else alone(item)
    return found


def _runs(item: Any) -> list[Any]:
    bound = _bound(item)
    return bound.runs if bound is not None else []


def _bound(item: Any) -> Any:
    return getattr(item, "funcargs", {}).get("stack")


def _run(item: Any, error: BaseException | None) -> Any:
    """The run that failed: the one that the failure names, or the last."""
    return getattr(error, "run", None) or next(reversed(_runs(item)), None)


def _aids(
    item: Any, error: BaseException | None, failure: Failure | None, blamed: Blame | None, scripts: Path | None
) -> tuple[str | None, ScriptOutcome | None]:
    """Help with a failure: the first diverging rung and a stand-alone script. Errors in making them do not hide it."""
    run = _run(item, error)
    if run is None:
        return None, None
    divergence: str | None = None
    if failure is not None and failure.phase in COMPARED and failure.exception != TIMEOUT:
        try:
            # What is another stack's own, none of the rungs below shows.
            own = blamed.own if blamed is not None and blamed.own is not None else failure
            divergence = first_divergence(run, own.discrepancies) if run.stack.exact else run.stack.name
        except Exception as trouble:
            item.add_report_section("call", "first divergence", "".join(traceback.format_exception(trouble)))
    if scripts is None:
        return divergence, None
    try:
        of_the_case = error if isinstance(error, CaseFailure) else None
        where = (item.stash[CASE], item.stash[TARGET], scripts)
        return divergence, write_script(run, *where, failure=of_the_case, first_divergence=divergence, run_it=False)
    except Exception as trouble:
        return divergence, ScriptOutcome(None, None, str(trouble))


def alone(item: Any) -> str:
    """The command that runs one case alone, with stack and ledgers as they were given."""
    target, ledgers = item.stash[TARGET], item.config.option.known_failures
    command = ["conformance", "run", "--case", item.stash[CASE]]
    command += ["--stack", given(target.stack), "--device", target.device]
    return shlex.join([*command, *(part for one in ledgers for part in ("--known-failures", one))])
