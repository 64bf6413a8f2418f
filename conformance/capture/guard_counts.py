"""How many guards each compilation has, by what they check, read from torch's own listing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from conformance.canonical.expect import Expectable

#: What every release lists alike; a guard that two names are one object, for one, is listed in two ways.
_SHOWN = {
    "TENSOR_MATCH": "properties of a tensor",
    "NO_TENSOR_ALIASING": "distinct from other tensors",
    "STORAGE_OVERLAPPING": "storage overlap",
}
_GUARD = re.compile(r"^[| ]*\+- (\w+)(?::|$)", re.MULTILINE)
#: Lines that say how a value is reached, and check nothing.
_MANAGER = re.compile(r".*(?:Manager|Accessor)$")


def count_guards(listing: str) -> Counter[str]:
    """How many guards of each kind torch lists, under torch's names."""
    return Counter(kind for kind in _GUARD.findall(listing) if not _MANAGER.match(kind))


class Guards(Expectable):
    """The guards of a run, a block of ``what: how many`` for each compilation; `total` counts those of all kinds."""

    def __init__(self, compilations: Sequence[Counter[str]]) -> None:
        self.compilations = list(compilations)
        blocks = (
            "\n".join(f"{told}: {counts[kind]}" for kind, told in _SHOWN.items() if counts[kind]) or "(none of these)"
            for counts in self.compilations
        )
        super().__init__("guards", "\n\n".join(blocks) or "(no compilation)")

    def total(self, compilation: int) -> int:
        """How many guards of any kind one compilation has."""
        return self.compilations[compilation].total()
