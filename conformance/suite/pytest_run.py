"""Runs pytest on the cases on behalf of a command."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.contract.catalog import cases_root
from conformance.suite.items import CASE
from conformance.suite.options import UsageError

USAGE = 2
INTERRUPTED = 130
PYTEST = ("-p", "conformance.plugin", "-p", "no:randomly", "-p", "no:logging", "--import-mode=importlib")


def run_cases(path: Path, arguments: Sequence[str], plugins: Sequence[object] = ()) -> int:
    """Run the cases below ``path`` with the suite's plugin; the exit status is the command line's, not pytest's."""
    import pytest

    status = int(pytest.main([str(path), *PYTEST, *arguments], list(plugins)))
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise UsageError("no case matches; `conformance clauses` lists them")
    # The plugin has told Ctrl-C (130) from a case that cannot be collected (2); this is what pytest refuses without it.
    return USAGE if status == pytest.ExitCode.USAGE_ERROR else status


class _Collector:
    """A pytest plugin that gathers the ids of the cases."""

    def __init__(self) -> None:
        self.ids: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        self.ids |= {item.stash[CASE] for item in items if CASE in item.stash}


class _RunTaker:
    """A pytest plugin that runs one case and keeps its last run of a program."""

    def __init__(self, case: str) -> None:
        self.case = case
        self.run: Any = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.stash.get(CASE, None) == self.case][:1]

    def pytest_runtest_teardown(self, item: Any) -> None:
        runs = getattr(item.funcargs.get("stack"), "runs", None)
        self.run = runs[-1] if runs else None


def run_of(case: str, stack: str, device: str) -> Any:
    """Run one case and return its last run of a program."""
    from conformance.stacks import resolve

    resolve(stack)
    file = cases_root() / case.partition("::")[0]
    if not file.is_file():
        raise UsageError(f"no case {case!r}: `conformance manifest` lists them in cases/manifest.txt")
    taker = _RunTaker(case)
    with contextlib.redirect_stdout(io.StringIO()):
        run_cases(file, [f"--stack={stack}", f"--device={device}"], [taker])
    if taker.run is None:
        raise UsageError(f"no case {case!r} that runs a program on {stack}, {device}")
    return taker.run


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
