"""Pytest's own lists of failures, without those that the findings of the run tell."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from conformance.results.findings import findings
from conformance.results.result_file import Key, Results


class PytestLists:
    """Keeps the cases' failures out of pytest's lists, unless pytest is asked to be verbose (``-v``)."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.keys: dict[str, Key] = {}
        self.failed: dict[Key, pytest.TestReport] = {}

    def add(self, report: pytest.TestReport, key: Key) -> None:
        """A report is about a result of the run."""
        self.keys[report.nodeid] = key
        if report.failed:
            self.failed[key] = report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, Any, Any]:
        """Around pytest's own, which writes a section before the findings and another one after them."""
        stats = terminalreporter.stats
        kept = {name: stats[name] for name in ("failed", "error") if name in stats}
        if self.config.get_verbosity() <= 0:
            for name, reports in kept.items():
                stats[name] = [one for one in reports if one.nodeid not in self.keys]
        try:
            return (yield)
        finally:
            stats.update(kept)  # the last line counts them

    def write_faults_of_the_suite(self, results: Results) -> None:
        """The traceback of one case of each finding in which the suite or a case is at fault: nothing else says it."""
        if self.config.get_verbosity() > 0 or self.config.option.tbstyle == "no":
            return
        for one in findings(results.results):
            report = self.failed.get(one.shortest.key)
            if one.shortest.outcome == "error" and report is not None:
                writer = self.config.get_terminal_writer()
                writer.line(f"[{one.id}] {one.shortest.case}")
                report.toterminal(writer)
                writer.line()
