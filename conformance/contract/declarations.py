"""How a case declares the clause that it proves, the capabilities that it needs and the scopes that run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from conformance.contract.capabilities import CAPABILITIES, UnknownCapability
from conformance.contract.registry import UnknownClause, clauses, nearest
from conformance.contract.scopes import PROFILES, UnknownProfile

Case = TypeVar("Case", bound=Callable[..., Any])


def _marking(attribute: str, value: Any) -> Callable[[Case], Case]:
    def mark(case: Case) -> Case:
        setattr(case, attribute, value)
        return case

    return mark


def clause(id: str) -> Callable[[Case], Case]:
    """Say which clause a case proves."""
    if id not in clauses():
        raise UnknownClause(
            f"unknown clause {id!r}; {nearest(id, clauses())}; "
            "a new one goes into conformance/contract/clauses/<area>.toml"
        )
    return _marking("conformance_clause", id)


def needs(*capabilities: str) -> Callable[[Case], Case]:
    """Name the capabilities without which a case does not apply to a stack."""
    for capability in capabilities:
        if capability not in CAPABILITIES:
            raise UnknownCapability(f"unknown capability {capability!r}; {nearest(capability, CAPABILITIES)}")
    return _marking("conformance_needs", capabilities)


def by_scope(argument: str, rows: Callable[[str], Sequence[str]]) -> Callable[[Case], Case]:
    """Give a case one argument, whose values depend on the scope of the run, as `pytest.mark.parametrize` would."""
    return _marking("conformance_rows", (argument, rows))


def in_profiles(*profiles: str) -> Callable[[Case], Case]:
    """Say in which profiles a case runs, where it costs too much for every run."""
    for profile in profiles:
        if profile not in PROFILES:
            raise UnknownProfile(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    return _marking("conformance_profiles", profiles)
