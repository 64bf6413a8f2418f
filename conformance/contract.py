"""The clause registry: what the contract promises, and how a case says which promise it proves."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeVar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AREAS = ("aot_autograd", "duplicate_arguments", "freezing", "layout", "minifier", "generated")
LEVELS = ("MUST", "SHOULD")

# What a stack may declare and a case may need. The sentence says what a stack that declares it can do.
CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "compile": "compiles programs, so that graphs, recompiles and graph breaks exist to be asserted",
        "training": "runs the backward of a compiled program",
        "input_mutation": "compiles programs that mutate their inputs",
        "module_state": "computes with the parameters and buffers of the module itself, and writes to those",
        "dynamic_shapes": "compiles one graph for several sizes",
        "recompiles": "serves every call: compiles again where one does not fit what was compiled, and says why",
        "overlap_guards": "compiles mutation for the overlap of its inputs, and again when that overlap changes",
        "graph_breaks": "continues in Python where a program cannot be captured, and says where",
        "lowered_graph": "shows the last graph before its code is generated",
        "freezing": "turns parameters into constants and folds them",
        "layout_optimization": "changes the layout of tensors inside a graph",
        "minifier": "can be debugged with the minifier after Dynamo",
        "minifier_after_aot": "can be debugged with the minifier after AOTAutograd",
        "minifier_aot_inductor": "can be debugged with the minifier of AOTInductor",
        "double_backward": "differentiates the backward of a compiled program",
        "profiler": "traces the backward through autograd, so that the profiler sees the numbers of its functions",
    }
)
#: How much is run, and how many programs a case draws that draws any. Each of them has to end within a case's time.
PROFILES: Mapping[str, int] = MappingProxyType({"quick": 10, "full": 20, "nightly": 60})

Case = TypeVar("Case", bound=Callable[..., Any])


class ContractError(ValueError):
    """A clause file that cannot be read as a list of clauses."""


class UnknownClause(ValueError):
    """A clause id that no clause file defines."""


class UnknownCapability(ValueError):
    """A capability that is not in `CAPABILITIES`."""


class UnknownProfile(ValueError):
    """A profile that is not in `PROFILES`."""


@dataclass(frozen=True)
class Clause:
    """One promise of the contract."""

    id: str
    level: str
    sentence: str
    source: str
    area: str
    rows: tuple[str, ...]


@cache
def clauses() -> Mapping[str, Clause]:
    """All clauses by id, in the order of the areas and of their files."""
    found: dict[str, Clause] = {}
    for area in AREAS:
        text = (resources.files("conformance") / "clauses" / f"{area}.toml").read_text(encoding="utf-8")
        for entry in parse_clauses(text, area):
            if entry.id in found:
                raise ContractError(f"clauses/{area}.toml: the clause {entry.id} is defined twice")
            found[entry.id] = entry
    return MappingProxyType(found)


def parse_clauses(text: str, area: str) -> list[Clause]:
    """The clauses of one file; every mistake in it is one line that names the file and the clause."""
    where = f"conformance/clauses/{area}.toml"
    try:
        tables = tomllib.loads(text).get("clause", [])
    except tomllib.TOMLDecodeError as error:
        raise ContractError(f"{where}: not TOML: {error}") from error
    return [_parse_clause(table, area, f"{where}: clause {number}") for number, table in enumerate(tables, 1)]


def _parse_clause(table: Mapping[str, Any], area: str, where: str) -> Clause:
    keys = {"id", "level", "sentence", "source", "rows"}
    if set(table) != keys:
        missing, extra = sorted(keys - set(table)), sorted(set(table) - keys)
        named = f"{where} ({table['id']})" if "id" in table else where
        raise ContractError(f"{named}: " + "; ".join(_named(("missing", missing), ("unknown", extra))))
    if not table["id"].startswith(f"{area}.") or table["id"].count(".") < 2:
        raise ContractError(f"{where}: the id {table['id']!r} is not of the form {area}.<topic>.<promise>")
    if table["level"] not in LEVELS:
        raise ContractError(f"{where}: the level {table['level']!r} is not one of {', '.join(LEVELS)}")
    if not table["source"].startswith("https://"):
        raise ContractError(f"{where}: the source {table['source']!r} is not a public https address")
    if not table["sentence"].endswith("."):
        raise ContractError(f"{where}: the sentence does not end with a full stop")
    return Clause(table["id"], table["level"], table["sentence"], table["source"], area, tuple(table["rows"]))


def _named(*groups: tuple[str, list[str]]) -> list[str]:
    return [f"{name} {', '.join(keys)}" for name, keys in groups if keys]


def _marking(attribute: str, value: Any) -> Callable[[Case], Case]:
    def mark(case: Case) -> Case:
        setattr(case, attribute, value)
        return case

    return mark


def clause(id: str) -> Callable[[Case], Case]:
    """Say which clause a case proves."""
    if id not in clauses():
        raise UnknownClause(
            f"unknown clause {id!r}; {nearest(id, clauses())}; a new one goes into conformance/clauses/<area>.toml"
        )
    return _marking("conformance_clause", id)


def needs(*capabilities: str) -> Callable[[Case], Case]:
    """Say what a stack must declare for a case to apply to it."""
    for capability in capabilities:
        if capability not in CAPABILITIES:
            raise UnknownCapability(f"unknown capability {capability!r}; {nearest(capability, CAPABILITIES)}")
    return _marking("conformance_needs", capabilities)


def in_profiles(*profiles: str) -> Callable[[Case], Case]:
    """Say in which profiles a case runs, where it costs too much for every run."""
    for profile in profiles:
        if profile not in PROFILES:
            raise UnknownProfile(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    return _marking("conformance_profiles", profiles)


def nearest(name: str, known: Iterable[str], limit: int = 6) -> str:
    """What exists instead of an unknown name: the close ones, or else all."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return f"close: {', '.join(close)}"
    shown = ", ".join(known[:limit])
    return f"known: {shown}" + (f" and {len(known) - limit} more" if len(known) > limit else "")
