"""How much of the suite a run covers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

#: How much is run, and how many programs a case draws that draws any. Each of them has to end within a case's time.
SCOPES: Mapping[str, int] = MappingProxyType({"core": 10, "quick": 10, "full": 20, "nightly": 60})
#: The rows of the contract that the scope `core` is about: the first numbers of these letters.
CORE_ROWS = frozenset(
    f"{letter}{number}"
    for letter, last in {"A": 24, "D": 6, "F": 18, "L": 4, "M": 11}.items()
    for number in range(1, last + 1)
)


class UnknownScope(ValueError):
    """A scope that is not in `SCOPES`."""


def in_scope(scope: str, rows: Collection[str]) -> bool:
    """Whether a case whose clause has these rows belongs to a scope: to `core` the core rows, to the others all."""
    return scope != "core" or not CORE_ROWS.isdisjoint(rows)
