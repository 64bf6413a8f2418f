"""How much of the suite a run covers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: How much is run, and how many programs a case draws that draws any. Each of them has to end within a case's time.
PROFILES: Mapping[str, int] = MappingProxyType({"quick": 10, "full": 20, "nightly": 60})


class UnknownProfile(ValueError):
    """A profile that is not in `PROFILES`."""
