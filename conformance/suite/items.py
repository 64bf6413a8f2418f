"""What the suite knows of one of pytest's items: which case it is, on which target, and what its case declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from conformance.contract.registry import clauses
from conformance.results.ledger import Entry

if TYPE_CHECKING:  # which needs torch
    from conformance.suite.plan import Plan
    from conformance.suite.target import Target

#: What a run is about, on pytest's configuration.
PLAN: pytest.StashKey[Plan] = pytest.StashKey()
#: The case's id, on the items that are cases.
CASE: pytest.StashKey[str] = pytest.StashKey()
TARGET: pytest.StashKey[Target] = pytest.StashKey()
#: The outcome and the reason of a case that is not run.
NOT_RUN: pytest.StashKey[tuple[str, str] | None] = pytest.StashKey()
#: The ledger's entry about the case, if there is one.
ENTRY: pytest.StashKey[Entry | None] = pytest.StashKey()
#: The entries of the rungs below the stack, by rung.
INHERITED: pytest.StashKey[Mapping[str, Entry]] = pytest.StashKey()

#: Whether a run is about outcomes alone, as trials of mutants are: nothing is added that helps to understand a failure.
OUTCOMES_ONLY: pytest.StashKey[bool] = pytest.StashKey()


def clause_of(item: pytest.Item) -> str | None:
    """The clause that a case proves; None where it names none."""
    marker = item.get_closest_marker("clause")
    return marker.kwargs["id"] if marker is not None else None


def rows_of(item: pytest.Item) -> tuple[str, ...]:
    """The rows of the contract that a case is about."""
    name = clause_of(item)
    return clauses()[name].rows if name is not None else ()


def needs_of(item: pytest.Item) -> list[str]:
    """The capabilities that a case needs."""
    return [name for marker in item.iter_markers("needs") for name in marker.kwargs]


def scopes_of(item: pytest.Item) -> list[str]:
    """The scopes that a case is limited to; none where it is not."""
    marker = item.get_closest_marker("scopes")
    return list(marker.kwargs) if marker is not None else []


def no_judge(item: pytest.Item) -> str:
    """Why the device that a case is to run on cannot judge it; empty where it can."""
    marker = item.get_closest_marker("devices")
    return marker.kwargs["reason"] if marker is not None and item.stash[TARGET].device not in marker.kwargs else ""
