"""Known failures: the ledger of a stack, which bug breaks which case, and nothing that is not exactly that."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from conformance.contract.catalog import function_of
from conformance.contract.registry import nearest
from conformance.results.bugs import BUGS, Bug, LedgerError, check_texts, parse_bugs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Where a case can fail: in the call, in backward, in the step after the calls, in what compilation did, in an inline
# expectation; the last three are the phases of the minifier.
PHASES = ("call", "backward", "follow_up", "compile_behaviour", "expectation", "program", "launcher", "repro")
#: Where the ledgers that ship lie, beside the cases.
FOLDER = "known_failures"

_SHARED = ("bug", "torch")
_FAILURE = (*_SHARED, "phase", "cases")
_OPTIONAL = ("device", "observables", "exception")
_SIGNATURE = (*_SHARED, "signatures")
_LISTS = ("cases", "observables", "signatures")
_TABLES = ("stack", "failure", "signature", "bugs")


@dataclass(frozen=True)
class Signature:
    """One known way in which generated programs differ; `conformance explore` prints it with every finding."""

    signature: str
    device: str
    torch: str
    bug: Bug

    def applies(self, device: str, torch_version: str) -> bool:
        """Whether the entry is about this device and torch release."""
        return self.device in ("*", device) and in_range(self.torch, torch_version)


@dataclass(frozen=True)
class Entry:
    """One known failure of one case; a table of a ledger is one of these for each of its cases.

    ``device`` is "*" for all of them, which is what a table without one means.
    """

    case: str
    device: str
    torch: str
    phase: str
    bug: Bug
    observables: frozenset[str] = frozenset()
    exception: str | None = None
    #: False of another stack's entry: it excuses a failure and demands none.
    strict: bool = True

    def applies(self, case: str, device: str, torch_version: str) -> bool:
        """Whether the entry is about this case, on this device and torch release."""
        return self.case == case and self.device in ("*", device) and in_range(self.torch, torch_version)

    def explains(self, phase: str, observables: Collection[str], exception: str | None) -> bool:
        """Whether a failure is exactly the one that the entry describes."""
        if phase != self.phase or exception != self.exception:
            return False
        return exception is not None or frozenset(observables) == self.observables

    def describe(self) -> str:
        """The failure that the entry expects, for messages about another one."""
        what = self.exception if self.exception is not None else ", ".join(sorted(self.observables))
        return f"{self.phase}: {what}" if what else self.phase


@dataclass(frozen=True)
class Ledger:
    """What one stack is known to break; ``bugs`` are those that the file holds itself."""

    path: str
    stack: str
    entries: tuple[Entry, ...] = ()
    signatures: tuple[Signature, ...] = ()
    bugs: Mapping[str, Bug] = field(default_factory=dict)

    @property
    def used(self) -> set[str]:
        """The ids of the bugs that entries refer to."""
        return {one.bug.id for one in self.entries} | {one.bug.id for one in self.signatures}


def in_range(specifier: str, torch_version: str) -> bool:
    """Whether a torch version is in a range; only its first two numbers count, so that nightlies compare right."""
    major, minor = (*Version(torch_version).release, 0)[:2]
    return SpecifierSet(specifier).contains(f"{major}.{minor}")


def load(path: str | Path, shared: Mapping[str, Bug] | None = None) -> Ledger:
    """The ledger in a file, whose entries refer to bugs of its own and to ``shared`` ones."""
    return parse(_read(path), str(path), shared)


def load_bugs(folder: Path) -> dict[str, Bug]:
    """The bugs that the ledgers of a folder share; none where the folder has no such file."""
    file = folder / BUGS
    if not file.is_file():
        return {}
    document = _document(_read(file), str(file))
    if unknown := sorted(set(document) - {"bugs"}):
        raise LedgerError(f"{file}: unknown table {', '.join(unknown)}; it holds [bugs.<id>] tables")
    return parse_bugs(document.get("bugs", {}), str(file))


def load_folder(folder: Path) -> dict[str, Ledger]:
    """The ledgers of a folder by stack; refuses a shared bug that none of them refers to."""
    bugs = load_bugs(folder)
    found = {file.stem: load(file, bugs) for file in sorted(folder.glob("*.toml")) if file.name != BUGS}
    for stack, ledger in found.items():
        if ledger.stack != stack:
            raise LedgerError(f"{ledger.path}: its stack is {ledger.stack!r}, and its file is named after {stack!r}")
    if unused := [name for name in bugs if not any(name in ledger.used for ledger in found.values())]:
        raise LedgerError(f"{folder / BUGS}: no entry refers to the bug {', '.join(unused)}; remove it")
    return found


def known_signatures(ledgers: Iterable[Ledger], device: str, torch_version: str) -> dict[str, Bug]:
    """Signature to bug, by the first of these ledgers that knows it, on a device and torch release."""
    known: dict[str, Bug] = {}
    for one in (one for ledger in ledgers for one in ledger.signatures):
        if one.applies(device, torch_version):
            known.setdefault(one.signature, one.bug)
    return known


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LedgerError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path}: cannot be read: {error}") from error


def _document(text: str, where: str) -> dict[str, Any]:
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LedgerError(f"{where}: not TOML: {error}") from error
    return document


def parse(text: str, where: str, shared: Mapping[str, Bug] | None = None) -> Ledger:
    """The ledger in a text; every mistake is one line."""
    document = _document(text, where)
    if unknown := sorted(set(document) - {*_TABLES}):
        raise LedgerError(
            f"{where}: unknown table {', '.join(unknown)}; a ledger holds its stack, [[failure]] and [[signature]] "
            "entries and [bugs.<id>] tables"
        )
    if not isinstance(document.get("stack"), str) or not document["stack"].strip():
        raise LedgerError(f'{where}: does not name its stack; write stack = "..." in its first line')
    own = parse_bugs(document.get("bugs", {}), where)
    if twice := sorted(set(own) & set(shared or {})):
        raise LedgerError(f"{where}: the bug {twice[0]} ships with the suite; refer to that one or take another id")
    bugs = {**(shared or {}), **own}
    entries = [one for table, place in _tables(document, where, "failure") for one in _entries(table, place, bugs)]
    signatures = [
        Signature(signature, table.get("device", "*"), table["torch"], bugs[table["bug"]])
        for table, place in _tables(document, where, "signature")
        if _checked(table, place, _SIGNATURE, ("device",), bugs)
        for signature in table["signatures"]
    ]
    ledger = Ledger(where, document["stack"], tuple(entries), tuple(signatures), own)
    if unused := [name for name in own if name not in ledger.used]:
        raise LedgerError(f"{where}: no entry refers to the bug {', '.join(unused)}; remove it")
    return ledger


def _tables(document: Mapping[str, Any], where: str, kind: str) -> list[tuple[dict[str, Any], str]]:
    """The tables of one kind, each with the words that name it in messages."""
    tables = document.get(kind, [])
    if not isinstance(tables, list):
        raise LedgerError(f"{where}: {kind} is not a list of entries; write [[{kind}]]")
    return [(table, f"{where}: {kind} {number}") for number, table in enumerate(tables, 1)]


def _checked(
    table: dict[str, Any], where: str, required: Collection[str], optional: Collection[str], bugs: Mapping[str, Bug]
) -> str:
    """Refuse a table with a wrong key, value, bug or torch range; how messages call it from here on."""
    if missing := [key for key in required if key not in table]:
        raise LedgerError(f"{where}: missing {', '.join(missing)}")
    where = f"{where} ({table['bug']})"
    if unknown := sorted(set(table) - {*required, *optional}):
        raise LedgerError(f"{where}: unknown key {', '.join(unknown)}")
    for key in [key for key in _LISTS if key in table]:
        if not isinstance(table[key], list) or not all(isinstance(name, str) and name for name in table[key]):
            raise LedgerError(f"{where}: {key} is not a list of texts")
        if not table[key] and key in required:
            raise LedgerError(f"{where}: {key} is empty")
    check_texts(table, set(table) - {*_LISTS}, where)
    if table["bug"] not in bugs:
        raise LedgerError(f"{where}: unknown bug {table['bug']!r}; {nearest(table['bug'], bugs)}")
    try:
        SpecifierSet(table["torch"])
    except InvalidSpecifier:
        raise LedgerError(f"{where}: the torch range {table['torch']!r} is not like '>=2.9,<2.15'") from None
    return where


def _entries(table: dict[str, Any], where: str, bugs: Mapping[str, Bug]) -> list[Entry]:
    where = _checked(table, where, _FAILURE, _OPTIONAL, bugs)
    observables = frozenset(table.get("observables", []))
    if table["phase"] not in PHASES:
        raise LedgerError(f"{where}: the phase {table['phase']!r} is not one of {', '.join(PHASES)}")
    if bool(observables) == ("exception" in table):
        raise LedgerError(f"{where}: needs the observables that differ or the exception that is raised, one of the two")
    stated = {"device": "*", **{key: value for key, value in table.items() if key != "cases"}}
    stated.update(bug=bugs[table["bug"]], observables=observables)
    return [Entry(case, **stated) for case in table["cases"]]


def match(entries: Iterable[Entry], case: str, device: str, torch_version: str) -> Entry | None:
    """The entry about this case, device and torch release; two are a mistake of the ledger."""
    found = [entry for entry in entries if entry.applies(case, device, torch_version)]
    if len(found) > 1:
        raise LedgerError(f"{case}: {len(found)} entries apply on {device} and torch {torch_version}; keep one")
    return found[0] if found else None


def unknown_cases(entries: Iterable[Entry], case_ids: Collection[str], by_scope: Collection[str] = ()) -> list[str]:
    """The cases that entries name and that do not exist, in order; of those `by_scope` any row may exist."""
    named = dict.fromkeys(entry.case for entry in entries)
    return [case for case in named if case not in case_ids and function_of(case) not in by_scope]
