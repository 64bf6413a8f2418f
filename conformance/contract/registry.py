"""The clause registry: every promise of the contract, read from `clauses/<area>.toml`."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AREAS = (
    "aot_autograd",
    "duplicate_arguments",
    "freezing",
    "layout",
    "minifier",
    "operators",
    "guards",
    "python",
    "generated",
)
LEVELS = ("MUST", "SHOULD")


class ContractError(ValueError):
    """A clause file that cannot be read as a list of clauses."""


class UnknownClause(ValueError):
    """A clause id that no clause file defines."""


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
        text = (resources.files("conformance.contract") / "clauses" / f"{area}.toml").read_text(encoding="utf-8")
        for entry in parse_clauses(text, area):
            if entry.id in found:
                raise ContractError(f"clauses/{area}.toml: the clause {entry.id} is defined twice")
            found[entry.id] = entry
    return MappingProxyType(found)


def parse_clauses(text: str, area: str) -> list[Clause]:
    """The clauses of one file; every mistake in it is one line that names the file and the clause."""
    where = f"conformance/contract/clauses/{area}.toml"
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


def nearest(name: str, known: Iterable[str], limit: int = 6) -> str:
    """The names that exist: those close to an unknown name, or else all."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return f"close: {', '.join(close)}"
    shown = ", ".join(known[:limit])
    return f"known: {shown}" + (f" and {len(known) - limit} more" if len(known) > limit else "")
