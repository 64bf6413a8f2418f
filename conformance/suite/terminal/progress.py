"""Says while a run goes on which case runs and about how long the rest takes, in place of pytest's letters."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable
from typing import Any

import pytest

from conformance.report.finding_blocks import shortened
from conformance.results.case_seconds import read_seconds

#: Seconds between two lines where the output is no terminal, and between two of a line's updates where it is one.
EVERY, OFTEN = 15.0, 0.2
#: Columns of a line.
WIDTH = 119
#: The plugin of a run, and the name under which a report carries a case's result.
CONTROLLER, PROPERTY = "conformance-controller", "conformance"


class Progress:
    """Registered in the controlling process of `conformance run`."""

    def __init__(self, every: float = EVERY) -> None:
        self.every = every
        self.began = self.said = time.monotonic()
        #: What each case takes by an earlier run, None where nothing is known, by node id.
        self.expected: dict[str, float | None] = {}
        self.running: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.unexpected = 0
        self._lock, self._ended = threading.RLock(), threading.Event()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """With workers a thread says that a case goes on; without them pytest captures what is written during one."""
        self.reporter: Any = session.config.pluginmanager.getplugin("terminalreporter")
        self.config = session.config
        self.workers = int(getattr(session.config.option, "numprocesses", None) or 0)
        if self.workers:
            threading.Thread(target=self._go_on, daemon=True).start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.expect(ids)

    def expect(self, ids: Iterable[str]) -> None:
        """The cases that will run; every worker collects the same ones."""
        from conformance.suite.target import case_id

        plan = self.config.pluginmanager.getplugin(CONTROLLER).plan
        known = read_seconds(plan.root) if plan.root is not None else {}
        with self._lock:
            for nodeid in ids:
                case, target = case_id(nodeid, self.config.rootpath, plan.targets)
                self.expected[nodeid] = known.get((case, target.stack)) if target is not None else None

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        with self._lock:
            self.running[nodeid] = time.monotonic()
        self.say()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        with self._lock:
            self.took[nodeid] = time.monotonic() - self.running.pop(nodeid, time.monotonic())
        self.say()

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        """A case that ended its worker has ended, too."""
        self.pytest_runtest_logfinish(crashitem)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.unexpected += report.failed

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, Any]:
        """Pytest counts the outcomes and writes no letters."""
        category, *_ = yield
        return category, "", ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._ended.set()
        self.clear()

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Take back the line that is rewritten, before somebody else writes."""
        with self._lock:
            if self.reporter.isatty:
                self.reporter.rewrite("", erase=True)
                self.reporter.rewrite("")

    def _go_on(self) -> None:
        while not self._ended.wait(1.0):
            self.say()

    def say(self) -> None:
        """Write the line, where it is time to."""
        with self._lock:
            now = time.monotonic()
            if self._ended.is_set() or now - self.said < (OFTEN if self.reporter.isatty else self.every):
                return
            self.said = now
            if self.reporter.isatty:
                self.reporter.rewrite(self.line(now, min(WIDTH, self.reporter._tw.fullwidth - 1)), erase=True)
            else:
                self.reporter.write_line(self.line(now))
                self.reporter.flush()

    def line(self, now: float, width: int = WIDTH) -> str:
        """How much is done, how long the rest takes, and which case has been running longest."""
        if not self.expected:
            return f"collecting the cases: {now - self.began:.0f} s"
        text = f"{len(self.took)} of {len(self.expected)} in {_time(now - self.began)}"
        text += f", {self.unexpected} not as expected" if self.unexpected else ""
        if len(self.took) >= len(self.expected):
            return text + (": their scripts are run" if self.unexpected else "")
        rest = self.rest(now)
        text += f", about {_time(rest)} more" if rest is not None else ""
        if self.running:
            nodeid = min(self.running, key=lambda one: self.running[one])
            ends = f" ({now - self.running[nodeid]:.0f} s)"
            text += ": "
            text += shortened(nodeid.removeprefix("cases/"), max(width - len(text) - len(ends), 20)) + ends
        return text

    def rest(self, now: float) -> float | None:
        """Seconds until the end: a case takes what it took before, or as long as those did that have ended."""
        if not self.took:
            return None
        mean = sum(self.took.values()) / len(self.took)
        before = [(self.expected.get(one), took) for one, took in self.took.items()]
        known = sum(seconds for seconds, _ in before if seconds)
        slower = sum(took for seconds, took in before if seconds) / known if known else 1.0
        left = 0.0
        for nodeid, seconds in self.expected.items():
            if nodeid not in self.took:
                whole = mean if seconds is None else seconds * slower
                left += max(whole - (now - self.running.get(nodeid, now)), 0.0)
        return left / max(self.workers, 1)


def _time(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
