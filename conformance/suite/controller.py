"""The controlling process of a run: hands GPUs to workers, gathers results, says how the run ended."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from _pytest.junitxml import xml_key

from conformance.forks.client import ForkServer
from conformance.program import devices
from conformance.results.bugs import LedgerError
from conformance.results.case_seconds import spent
from conformance.results.claims import ClaimError
from conformance.results.result_file import CaseResult
from conformance.run.in_child import Ended, call_in_child
from conformance.stacks import given
from conformance.suite.claim import claims
from conformance.suite.forked_workers import worker_server
from conformance.suite.options import RunOptions
from conformance.suite.outcomes.ended_workers import EndedWorkers
from conformance.suite.outcomes.outcome import CRASH, TIMEOUT, Failure, blame, bug_of, result, told, verdict
from conformance.suite.plan import Plan
from conformance.suite.pytest_run import INTERRUPTED, USAGE
from conformance.suite.results_folder import ResultFolder
from conformance.suite.target import Target, case_id
from conformance.suite.terminal.captured_log import without_warnings
from conformance.suite.terminal.progress import PROPERTY
from conformance.suite.terminal.pytest_lists import PytestLists

#: How many processes inductor compiles kernels in.
COMPILE_THREADS = "TORCHINDUCTOR_COMPILE_THREADS"
#: Seconds for the scripts of the cases that ended a worker.
SECONDS = 900.0


class Controller:
    """Registered where xdist's workers report to, or in the only process."""

    def __init__(self, config: pytest.Config, plan: Plan, options: RunOptions) -> None:
        self.config, self.plan = config, plan
        self.workers = int(getattr(config.option, "numprocesses", None) or 0)
        folder = Path(options.results) if options.results else None
        self.lists = PytestLists(config)
        self.folder = ResultFolder(folder, options.saved(), plan.targets, plan.kept)
        self.lines: list[str] = []
        self.started: dict[str, float] = {}
        self.shared: dict[str, str] = {}
        if self.workers > 1 and COMPILE_THREADS not in os.environ:
            self.shared[COMPILE_THREADS] = "1"  # else each worker starts a process a core, and waits for them all
        self.server: ForkServer | None = None
        self.interrupted = False
        self.ends = EndedWorkers()
        #: How the stack ended its worker, by target and case: their scripts are written at the end.
        self.ended: dict[Target, dict[str, str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Before the workers start: make once what they share, so that they do not all wait for it."""
        if self.config.option.collectonly:
            return
        self.folder.begin()
        if not self.workers or self.plan.root is None:
            return
        self.server = worker_server(self.shared, self.config.add_cleanup)  # it imports while stacks prepare
        self.prepare_stacks()

    def prepare_stacks(self) -> None:
        """Make what a stack's compilations share, and keep what workers should find in their environment."""
        told = self.config.get_terminal_writer()
        for stack in self.plan.stacks.values():
            began = time.monotonic()
            try:
                with without_warnings():
                    self.shared |= stack.prepare(self.plan.devices)
            except Exception as trouble:  # the cases will show what is broken
                self.lines.append(f"{stack.name}: preparing for the workers failed: {trouble}")
            if (seconds := time.monotonic() - began) >= 0.1:
                told.line(f"{stack.name}: {stack.prepare.__doc__} ({seconds:.1f} s)")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: list[Any]) -> None:
        """What the stacks prepared, and one GPU a worker, from the first moment: later is too late for CUDA."""
        gpus = devices.visible_gpus() if "cuda" in self.plan.devices else []
        for number, spec in enumerate(specs):
            spec.env.update(self.shared)
            if self.server is not None:
                spec.python = str(self.server.python)
            if (gpu := devices.gpu_of(number, gpus)) is not None:
                spec.env["CUDA_VISIBLE_DEVICES"] = gpu

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """What a worker cannot find out: a replacement for a crashed one must select what the first one did."""
        node.workerinput["conformance_kept"] = [list(key) for key in self.plan.kept_keys]
        if "cuda" in self.plan.devices:
            node.workerinput["conformance_memory"] = devices.memory_share(self.workers, devices.visible_gpus())

    def pytest_collectreport(self, report: Any) -> None:
        """With workers too, a case that cannot be collected ends the run: the others would look like all of them."""
        workers = self.config.pluginmanager.getplugin("dsession")
        if report.failed and workers is not None and not self.config.option.continue_on_collection_errors:
            workers.shouldstop = "a case cannot be collected"

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.started[nodeid] = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """A worker that died: its case's failure, unless the ledger knows it."""
        case, target = case_id(crashitem, self.config.rootpath, self.plan.targets)
        if target is None:
            return
        seconds = time.monotonic() - self.started.get(crashitem, time.monotonic())
        limit = float(self.config.option.timeout or 0)
        if limit and seconds >= limit:
            failure = Failure("call", exception=TIMEOUT, message=f"the stack hung: no result within {limit:g} s")
        else:
            message = str(self.ends.last) if self.ends.by_eager else f"the stack crashed the process: {self.ends.last}"
            failure = Failure("call", exception=CRASH, message=message, of_the_suite=self.ends.by_eager)
        ledgers = self.plan.ledgers
        blamed = blame(failure, ledgers.inherited(case, target))
        entry = ledgers.entry(case, target)
        outcome, reason = verdict(failure, entry, blamed)
        bug = bug_of(failure, entry, blamed)
        found = result(case, target, outcome, reason, seconds=seconds, failure=failure, bug=bug)
        if outcome in ("known_failure", "inherited"):
            report.outcome, report.wasxfail = "skipped", reason
        else:
            report.longrepr = told(found, failure.message)
            self.ended.setdefault(target, {})[case] = failure.message.removeprefix("the stack ")
        self.folder.add(found, failure.to_json())
        self.lists.add(report, found.key)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        for value in [value for name, value in report.user_properties if name == PROPERTY]:
            found = json.loads(value)
            result = CaseResult.from_json(found["result"])
            self.folder.add(result, found["failure"])
            self.lists.add(report, result.key)
        # It has arrived; junit.xml is for people and their tools.
        report.user_properties = [one for one in report.user_properties if one[0] != PROPERTY]

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self.interrupted = excinfo.type is KeyboardInterrupt  # not its subclasses: a collection error is one

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.config.option.collectonly:
            return
        self._add_kept_to_junit()
        ended = exitstatus in (0, 1, pytest.ExitCode.NO_TESTS_COLLECTED)
        if ended:
            session.exitstatus = self._checked(exitstatus)
        elif self.interrupted:
            session.exitstatus = INTERRUPTED
        if self.plan.root is not None:
            with contextlib.suppress(ClaimError):  # cases of somebody's own, which are not the contract's
                self.folder.claim(claims(self.plan.root, self.plan.stacks, self.folder.results))
        self._write_scripts_of_ended()
        if not self.interrupted:
            self.lines += self.folder.try_scripts(self.workers)
        self.folder.write_reports(ended=ended)
        shared = self.plan.ledgers.shared
        for path, update in self.plan.edited_ledgers:
            self.lines += self.folder.edit_ledger(path, update=update, shared=shared)

    def _add_kept_to_junit(self) -> None:
        """In junit.xml what an interrupted run had found stands beside what this one did."""
        xml = self.config.stash.get(xml_key, None)
        if xml is None:
            return
        for one in self.plan.kept.values():
            path, _, name = one.case.partition("::")
            function, bracket, own = name.partition("[")
            nodeid = f"cases/{path}::{function}[{one.stack}-{one.device}{'-' if bracket else ']'}{own}"
            for when in ("call", "teardown"):
                known = when == "call" and one.outcome == "known_failure"
                report = pytest.TestReport(
                    nodeid,
                    (path, None, function),
                    {},
                    "skipped" if known else "passed",
                    None,
                    when,
                    duration=one.seconds,
                )
                if known:
                    report.wasxfail = one.reason
                xml.pytest_runtest_logreport(report)

    def _write_scripts_of_ended(self) -> None:
        """Scripts of the cases whose stack ended its worker or hung, by a process that does not run the stack."""
        if self.folder.folder is None:
            return
        for target, ended in self.ended.items():
            asked = {"stack": given(target.stack), "device": target.device, "ended": ended, "run_it": False}
            folder = str((self.folder.folder / "failures").resolve())
            try:
                found = call_in_child(
                    "conformance.suite.case_scripts.scripts:write_ended", {**asked, "folder": folder}, SECONDS
                )
            except ValueError as trouble:
                found = Ended(str(trouble))
            if isinstance(found, Ended):
                self.lines.append(f"no scripts of {len(ended)} cases that ended the process: {found}")
                continue
            for case, outcome in found.items():
                self.folder.add_script(case, target, outcome["path"], outcome["shows"], outcome["reason"] or None)

    def _checked(self, exitstatus: int) -> int:
        """The exit status of a run that came to its end, from its results."""
        full = self.plan.is_full(self.config.args)
        if full and self.plan.listed:
            missing = self.folder.add_missing(self.plan.expected())
            if missing:
                self.lines.append(f"{missing} missing: cases that cases/manifest.txt lists and that have no result")
        found = self.folder.results.results
        if full and not self.plan.listed:
            try:
                cases = {one.case for one in found}
                self.plan.ledgers.check(cases, "this run's cases are the known ones", self.plan.targets)
            except LedgerError as error:
                self.lines.append(f"ERROR: {error}")
                return USAGE
        if any(not one.as_expected for one in found):
            return 1
        return 0 if self.plan.kept and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED else exitstatus

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        found = self.folder.results
        ran = [one for one in found.results if one.key not in self.plan.kept_keys]
        notes = [*self.lines, *spent(ran, max(self.workers, 1), found.seconds)]
        if found.results:
            from conformance.report import terminal_table

            terminalreporter.section("conformance")
            self.lists.write_faults_of_the_suite(found)
            terminal_table([found], notes=notes)
        elif self.lines:
            terminalreporter.section("conformance")
            for line in self.lines:
                terminalreporter.write_line(line)
