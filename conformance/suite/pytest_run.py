"""Runs pytest on the cases on behalf of a command."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.suite.items import CASE, PLAN
from conformance.suite.options import UsageError

USAGE = 2
INTERRUPTED = 130
PYTEST = ("-p", "conformance.plugin", "-p", "no:randomly", "-p", "no:logging", "--import-mode=importlib")


def run_cases(path: Path, arguments: Sequence[str], plugins: Sequence[object] = ()) -> int:
    """Run the cases below ``path`` with the suite's plugin; the exit status is the command line's, not pytest's."""
    status = int(pytest.main([str(path), *PYTEST, *arguments], list(plugins)))
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise UsageError("no case matches; `conformance clauses` lists them")
    # The plugin has told Ctrl-C (130) from a case that cannot be collected (2); this is what pytest refuses without it.
    return USAGE if status == pytest.ExitCode.USAGE_ERROR else status


class AllCases:
    """A pytest plugin that makes a run one of all cases, those of longer scopes as well."""

    @pytest.hookimpl(trylast=True)  # once the plan is there
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[PLAN].all_cases = True


class _Collector(AllCases):
    """Gathers the ids of the cases."""

    def __init__(self) -> None:
        self.ids: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        self.ids |= {item.stash[CASE] for item in items if CASE in item.stash}


def case_ids(root: Path) -> list[str]:
    """The ids of all cases, own parameters included, sorted."""
    collector = _Collector()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = run_cases(root, ["--collect-only", "-q", "--stack=eager", "--device=cpu"], [collector])
    if status != 0:
        errors = [line for line in output.getvalue().splitlines() if line.startswith(("E ", "ERROR"))]
        raise UsageError(f"the cases cannot be collected: {errors[0] if errors else 'see pytest --collect-only'}")
    return sorted(collector.ids)
