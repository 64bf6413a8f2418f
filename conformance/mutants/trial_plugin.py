"""A pytest plugin of a trial: only the planned pairs of mutant and case run, and none that has become needless.

Loaded with ``-p`` in the controlling process and in every worker; what they share is a folder with the plan and one
small file for each clause of a mutant that is killed for it, and for each case that has killed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.contract.catalog import function_of
from conformance.suite.items import CASE, NOT_RUN, OUTCOMES_ONLY, PLAN, TARGET
from conformance.suite.terminal.progress import PROPERTY

FOLDER = "CONFORMANCE_TRIAL"


def mark(kind: str, *names: str) -> Path:
    """The file that says that a mutant is killed for a clause, or that a case kills."""
    return Path(os.environ[FOLDER]) / f"{kind}-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:24]}"


@dataclass(frozen=True)
class Trial:
    """What a trial is about."""

    #: The pairs of mutant and case that are to run, with the clauses that the case may kill the mutant for.
    pairs: dict[tuple[str, str], list[str]]
    #: Whether all of them run, the needless ones as well, for the whole matrix.
    exhaustive: bool


@functools.cache
def planned(folder: str) -> Trial:
    """The trial whose plan lies in a folder."""
    plan = json.loads((Path(folder) / "plan.json").read_text(encoding="utf-8"))
    return Trial({(mutant, case): broken for mutant, case, broken in plan["trials"]}, plan["exhaustive"])


@pytest.hookimpl(trylast=True)  # once the plan is there
def pytest_configure(config: pytest.Config) -> None:
    config.stash[OUTCOMES_ONLY] = True
    stacks: dict[str, set[str]] = {}
    for mutant, case in planned(os.environ[FOLDER]).pairs:
        stacks.setdefault(function_of(case), set()).add(mutant)
    config.stash[PLAN].stacks_of, config.stash[PLAN].all_cases = stacks, True


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    plan = planned(os.environ[FOLDER]).pairs
    kept = [item for item in items if CASE in item.stash and (item.stash[TARGET].stack, item.stash[CASE]) in plan]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    mutant, case = item.stash[TARGET].stack, item.stash[CASE]
    trial = planned(os.environ[FOLDER])
    broken = trial.pairs[mutant, case]
    if not broken or trial.exhaustive:  # an unmutated base always runs
        return
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
                for clause in planned(os.environ[FOLDER]).pairs[found["stack"], found["case"]]:
                    mark("mutant", found["stack"], clause).touch()
                mark("case", function_of(found["case"])).touch()
    return (yield)
