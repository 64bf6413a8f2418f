"""Profiles: sets of clauses that a stack may claim, by the capabilities that their cases need."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

#: What a stack that claims a profile has to be capable of. A clause belongs to every profile that names a capability
#: which one of its cases needs, and to ``inference`` where none does.
PROFILES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "inference": frozenset({"compile", "recompiles", "graph_breaks", "module_state", "python_objects"}),
        "training": frozenset({"training", "double_backward"}),
        "mutation": frozenset({"input_mutation"}),
        "dynamic_shapes": frozenset({"dynamic_shapes"}),
        "freezing": frozenset({"freezing", "layout_optimization"}),
        "debugging": frozenset({"minifier", "minifier_after_aot", "minifier_aot_inductor", "profiler"}),
    }
)


def profiles_of(needs: Collection[str]) -> tuple[str, ...]:
    """The profiles that a clause belongs to whose cases need these capabilities."""
    special = tuple(name for name, wanted in PROFILES.items() if name != "inference" and wanted & {*needs})
    return special or ("inference",)
