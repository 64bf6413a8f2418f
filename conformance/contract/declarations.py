"""How a case declares the clause that it proves, the capabilities it needs, and the scopes and devices that run it.

Each is a marker of pytest's, so that `-m "clause(id='layout.strides.kept')"`, `-m "needs(training=True)"` and other
plugins see it; what is marked stays a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from conformance.contract.capabilities import CAPABILITIES, UnknownCapability
from conformance.contract.registry import UnknownClause, clauses, nearest
from conformance.contract.scopes import SCOPES, UnknownScope

Case = TypeVar("Case", bound=Callable[..., Any])
#: For `pytest --markers`.
MARKERS = (
    "clause(id): the clause of the contract that the case proves",
    "needs(capability=True, ...): what a stack must declare for the case to apply to it",
    "rows(argument, of): the case takes one argument, whose values `of(scope)` gives",
    "scopes(scope=True, ...): the scopes that run the case; without it all of them do",
    "devices(device=True, ..., reason): the devices that can judge the case, and why others cannot; without it all can",
)


def _marking(name: str, **values: Any) -> Callable[[Case], Case]:
    def mark(case: Case) -> Case:
        import pytest  # here: the contract is read without it

        marked: Case = getattr(pytest.mark, name)(**values)(case)
        return marked

    return mark


def clause(id: str) -> Callable[[Case], Case]:
    """Say which clause a case proves."""
    if id not in clauses():
        raise UnknownClause(
            f"unknown clause {id!r}; {nearest(id, clauses())}; "
            "a new one goes into conformance/contract/clauses/<area>.toml"
        )
    return _marking("clause", id=id)


def needs(*capabilities: str) -> Callable[[Case], Case]:
    """Name the capabilities without which a case does not apply to a stack."""
    for capability in capabilities:
        if capability not in CAPABILITIES:
            raise UnknownCapability(f"unknown capability {capability!r}; {nearest(capability, CAPABILITIES)}")
    return _marking("needs", **dict.fromkeys(capabilities, True))


def by_scope(argument: str, rows: Callable[[str], Sequence[str]]) -> Callable[[Case], Case]:
    """Give a case one argument, whose values depend on the scope of the run, as `pytest.mark.parametrize` would."""
    return _marking("rows", argument=argument, of=rows)


def in_scopes(*scopes: str) -> Any:
    """Say in which scopes a case, or a row of its table (``marks=``), runs, where it costs too much for every run."""
    import pytest  # here: the contract is read without it

    for scope in scopes:
        if scope not in SCOPES:
            raise UnknownScope(f"unknown scope {scope!r}; known: {', '.join(SCOPES)}")
    return pytest.mark.scopes(**dict.fromkeys(scopes, True))


def on_devices(*devices: str, reason: str) -> Any:
    """Say on which devices a case, or a row of its table (``marks=``), can be judged, and why on others it cannot."""
    import pytest  # here: the contract is read without it

    return pytest.mark.devices(reason=reason, **dict.fromkeys(devices, True))
