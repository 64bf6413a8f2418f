"""Bugs: what is broken, each once, under an id that ledgers refer to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

#: The file beside the ledgers that ship, which all of them refer to.
BUGS = "bugs.toml"
UNREPORTED = "unreported"

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_REQUIRED = ("title", "link")
_TEXTS = (*_REQUIRED, "script", "kind", "rung", "cause")
#: How a fault shows, the gravest first.
KINDS: Mapping[str, str] = {
    "silent": "a wrong result comes without an error",
    "crash": "the process ends where eager has a result",
    "loud": "an error comes where eager has a result",
    "exception": "eager raises as well, and another exception, so that what handles eager's does not catch it",
    "other": "results are right, and what is compiled, how often, or what the minifier does is not",
}


class LedgerError(ValueError):
    """A ledger that cannot be used; the message is one line that names the file and the entry."""


@dataclass(frozen=True)
class Bug:
    """One root cause: a sentence that says what is broken, where it is reported and what shows it.

    ``kind`` is how it shows (`KINDS`), ``rung`` the first stack of torch's ladder that has the bug, ``cause`` the file
    and function of torch in which it lies; each is None where nobody has written it down.
    """

    id: str
    title: str
    link: str
    script: str | None = None
    kind: str | None = None
    rung: str | None = None
    cause: str | None = None

    def __str__(self) -> str:
        return f"{self.title} ({self.link})"


def parse_bugs(tables: Any, where: str) -> dict[str, Bug]:
    """The bugs of a file by id, from its ``[bugs.<id>]`` tables; every mistake is one line."""
    if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
        raise LedgerError(f"{where}: bugs is not a table of tables; write [bugs.<id>]")
    found = {name: _bug(name, table, f"{where}: bug {name}") for name, table in tables.items()}
    titles: dict[str, str] = {}
    for bug in found.values():
        if bug.title in titles:
            raise LedgerError(f"{where}: the bugs {titles[bug.title]} and {bug.id} have one title; keep one of them")
        titles[bug.title] = bug.id
    return found


def _bug(name: str, table: Mapping[str, Any], where: str) -> Bug:
    if not _ID.fullmatch(name):
        raise LedgerError(f"{where}: an id is lower-case words with hyphens between them")
    if missing := [key for key in _REQUIRED if key not in table]:
        raise LedgerError(f"{where}: missing {', '.join(missing)}")
    if unknown := sorted(set(table) - {*_TEXTS}):
        raise LedgerError(f"{where}: unknown key {', '.join(unknown)}")
    check_texts(table, set(table), where)
    if (kind := table.get("kind")) is not None and kind not in KINDS:
        raise LedgerError(f"{where}: the kind {kind!r} is not one of {', '.join(KINDS)}")
    if table["link"] == UNREPORTED and "script" not in table:
        raise LedgerError(f"{where}: an unreported bug needs a script that shows it")
    if table["link"] != UNREPORTED and not table["link"].startswith("https://"):
        raise LedgerError(f"{where}: the link is neither https://... nor {UNREPORTED!r}")
    return Bug(name, **table)


def check_texts(table: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    """Refuse a value that is not a text, or is an empty one."""
    for key in sorted(keys):
        if not isinstance(table[key], str) or not table[key].strip():
            raise LedgerError(f"{where}: {key} is not a text")
