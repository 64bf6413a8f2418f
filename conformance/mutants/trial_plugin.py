"""A pytest plugin of a trial: only the planned pairs of mutant and case run, and none that has become needless.

Loaded with ``-p`` in the controlling process and in every worker; what they share is a folder with one small file for
each mutant that is killed and each case that has killed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from conformance.suite.controller import PROPERTY

FOLDER = "CONFORMANCE_TRIAL"


def mark(kind: str, name: str) -> Path:
    """The file that says that a mutant is killed, or that a case kills."""
    return Path(os.environ[FOLDER]) / f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:24]}"


def function_of(case: str) -> str:
    """A case's id without its parameters."""
    return case.partition("[")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    planned = {(mutant, case) for mutant, case in json.loads((Path(os.environ[FOLDER]) / "plan.json").read_text())}
    kept = [
        item
        for item in items
        if hasattr(item, "conformance_case_id") and (item.conformance_target.stack, item.conformance_case_id) in planned
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    killed = mark("mutant", item.conformance_target.stack).exists()
    if killed and mark("case", function_of(item.conformance_case_id)).exists():
        item.conformance_not_run = ("not_applicable", "the mutant is killed, and the case has killed")
        pytest.skip(item.conformance_not_run[1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_logreport(report: Any) -> Generator[None, Any, Any]:
    # A wrapper, so that it comes before the controller, which takes the result out of the report.
    for name, value in report.user_properties:
        if name == PROPERTY:
            found = json.loads(value)["result"]
            if found["outcome"] == "fail":
                mark("mutant", found["stack"]).touch()
                mark("case", function_of(found["case"])).touch()
    return (yield)
