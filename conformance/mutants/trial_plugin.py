"""A pytest plugin of a trial: only the planned pairs of mutant and case run, and none that has become needless.

Loaded with ``-p`` in the controlling process and in every worker; what they share is a folder with one small file for
each clause of a mutant that is killed for it, and for each case that has killed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from conformance.suite.items import CASE, NOT_RUN, TARGET
from conformance.suite.terminal.progress import PROPERTY

FOLDER = "CONFORMANCE_TRIAL"


def mark(kind: str, *names: str) -> Path:
    """The file that says that a mutant is killed for a clause, or that a case kills."""
    return Path(os.environ[FOLDER]) / f"{kind}-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:24]}"


@functools.cache
def planned(folder: str) -> dict[tuple[str, str], list[str]]:
    """The pairs of mutant and case that are to run, with the clauses that the case may kill the mutant for."""
    plan = json.loads((Path(folder) / "plan.json").read_text(encoding="utf-8"))
    return {(mutant, case): broken for mutant, case, broken in plan}


def function_of(case: str) -> str:
    """A case's id without its parameters."""
    return case.partition("[")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    plan = planned(os.environ[FOLDER])
    kept = [item for item in items if CASE in item.stash and (item.stash[TARGET].stack, item.stash[CASE]) in plan]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    mutant, case = item.stash[TARGET].stack, item.stash[CASE]
    broken = planned(os.environ[FOLDER])[mutant, case]
    if mark("case", function_of(case)).exists() and all(mark("mutant", mutant, clause).exists() for clause in broken):
        why = "the mutant is killed, and the case has killed"
        item.stash[NOT_RUN] = ("not_applicable", why)
        pytest.skip(why)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_logreport(report: Any) -> Generator[None, Any, Any]:
    # A wrapper, so that it comes before the controller, which takes the result out of the report.
    for name, value in report.user_properties:
        if name == PROPERTY:
            found = json.loads(value)["result"]
            if found["outcome"] == "fail":
                for clause in planned(os.environ[FOLDER])[found["stack"], found["case"]]:
                    mark("mutant", found["stack"], clause).touch()
                mark("case", function_of(found["case"])).touch()
    return (yield)
