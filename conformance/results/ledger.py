"""Known failures: the ledger of a stack, which bug breaks which case, and nothing that is not exactly that."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Where a case can fail: in the call, in backward, in the step after the calls, in what compilation did, in an inline
# expectation; the last three are the phases of the minifier.
PHASES = ("call", "backward", "follow_up", "compile_behaviour", "expectation", "program", "launcher", "repro")
UNREPORTED = "unreported"

_REQUIRED = ("case", "device", "torch", "phase", "reason", "link")
_SIGNATURE = ("signature", "device", "torch", "reason", "link")
_OPTIONAL = ("observables", "exception", "script", "machine")


class LedgerError(ValueError):
    """A ledger that cannot be used; the message is one line that names the file and the entry."""


@dataclass(frozen=True)
class Signature:
    """One known way in which generated programs differ; `conformance explore` prints it with every finding."""

    signature: str
    device: str
    torch: str
    reason: str
    link: str
    script: str | None = None

    def applies(self, device: str, torch_version: str) -> bool:
        """Whether the entry is about this device and torch release."""
        return self.device in ("*", device) and in_range(self.torch, torch_version)


@dataclass(frozen=True)
class Entry:
    """One known failure of one case."""

    case: str
    device: str
    torch: str
    phase: str
    reason: str
    link: str
    observables: frozenset[str] = frozenset()
    exception: str | None = None
    script: str | None = None
    #: "gpu" where the failure, though of the CPU, shows only on a machine that has a GPU.
    machine: str | None = None

    def applies(self, case: str, device: str, torch_version: str, *, has_gpu: bool = False) -> bool:
        """Whether the entry is about this case, on this device, torch release and machine."""
        if self.machine == "gpu" and not has_gpu:
            return False
        return self.case == case and self.device in ("*", device) and in_range(self.torch, torch_version)

    def explains(self, phase: str, observables: Collection[str], exception: str | None) -> bool:
        """Whether a failure is exactly the one that the entry describes."""
        if phase != self.phase:
            return False
        if self.exception is not None:
            return exception == self.exception
        return exception is None and frozenset(observables) == self.observables

    def describe(self) -> str:
        """The failure that the entry expects, for messages about another one."""
        what = self.exception if self.exception is not None else ", ".join(sorted(self.observables))
        return f"{self.phase}: {what}" if what else self.phase


def in_range(specifier: str, torch_version: str) -> bool:
    """Whether a torch version is in a range; only its first two numbers count, so that nightlies compare right."""
    major, minor = (*Version(torch_version).release, 0)[:2]
    return SpecifierSet(specifier).contains(f"{major}.{minor}")


def load(path: str | Path) -> list[Entry]:
    """The entries of a ledger."""
    return parse(_read(path), str(path))


def shipped(folder: Path, stacks: Iterable[str]) -> list[Path]:
    """The ledgers that a folder has of these stacks, in their order."""
    return [file for stack in stacks if (file := folder / f"{stack}.toml").is_file()]


def load_signatures(path: str | Path) -> list[Signature]:
    """What a ledger knows of generated programs."""
    return parse_signatures(_read(path), str(path))


def known_signatures(files: Iterable[str | Path], device: str, torch_version: str) -> dict[str, str]:
    """Signature to reason, by the first of these ledgers that knows it, on a device and torch release."""
    known: dict[str, str] = {}
    for entry in (entry for file in files for entry in load_signatures(file)):
        if entry.applies(device, torch_version):
            known.setdefault(entry.signature, entry.reason)
    return known


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LedgerError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path}: cannot be read: {error}") from error


def parse(text: str, where: str) -> list[Entry]:
    """The entries in the text of a ledger; every mistake is one line."""
    return [_entry(table, place) for table, place in _tables(text, where, "failure")]


def parse_signatures(text: str, where: str) -> list[Signature]:
    """The known signatures in the text of a ledger; every mistake is one line."""
    found = []
    for table, place in _tables(text, where, "signature"):
        place = _checked(table, place, "signature", _SIGNATURE, ("script",))
        _check_origin(table, place)
        found.append(Signature(**table))
    return found


def _tables(text: str, where: str, kind: str) -> list[tuple[dict[str, Any], str]]:
    """The tables of one kind, each with the words that name it in messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LedgerError(f"{where}: not TOML: {error}") from error
    if unknown := sorted(set(document) - {"failure", "signature"}):
        raise LedgerError(
            f"{where}: unknown table {', '.join(unknown)}; a ledger holds [[failure]] and [[signature]] entries"
        )
    tables = document.get(kind, [])
    if not isinstance(tables, list):
        raise LedgerError(f"{where}: {kind} is not a list of entries; write [[{kind}]]")
    return [(table, f"{where}: {kind} {number}") for number, table in enumerate(tables, 1)]


def _checked(table: dict[str, Any], where: str, name: str, required: Collection[str], optional: Collection[str]) -> str:
    """Refuse a table that lacks a key, has another or holds something but text; how messages call it from here on."""
    if missing := [key for key in required if key not in table]:
        raise LedgerError(f"{where}: missing {', '.join(missing)}")
    where = f"{where} ({table[name]})"
    if unknown := sorted(set(table) - {*required, *optional}):
        raise LedgerError(f"{where}: unknown key {', '.join(unknown)}")
    for key in set(table) - {"observables"}:
        if not isinstance(table[key], str) or not table[key].strip():
            raise LedgerError(f"{where}: {key} is not a text")
    return where


def _check_origin(table: dict[str, Any], where: str) -> None:
    """Refuse a torch range that is none, and a failure that nobody can look up or see."""
    try:
        SpecifierSet(table["torch"])
    except InvalidSpecifier:
        raise LedgerError(f"{where}: the torch range {table['torch']!r} is not like '>=2.9,<2.15'") from None
    if table["link"] == UNREPORTED and "script" not in table:
        raise LedgerError(f"{where}: an unreported failure needs a script that shows it")
    if table["link"] != UNREPORTED and not table["link"].startswith("https://"):
        raise LedgerError(f"{where}: the link is neither https://... nor {UNREPORTED!r}")


def _entry(table: dict[str, Any], where: str) -> Entry:
    where = _checked(table, where, "case", _REQUIRED, _OPTIONAL)
    observables = table.get("observables", [])
    if not isinstance(observables, list) or not all(isinstance(name, str) and name for name in observables):
        raise LedgerError(f"{where}: observables is not a list of texts")
    if table["phase"] not in PHASES:
        raise LedgerError(f"{where}: the phase {table['phase']!r} is not one of {', '.join(PHASES)}")
    if bool(observables) == ("exception" in table):
        raise LedgerError(f"{where}: needs the observables that differ or the exception that is raised, one of the two")
    if table.get("machine", "gpu") != "gpu":
        raise LedgerError(f"{where}: the machine {table['machine']!r} is not 'gpu', all that an entry may ask for")
    _check_origin(table, where)
    return Entry(**{**table, "observables": frozenset(observables)})


def match(
    entries: Iterable[Entry], case: str, device: str, torch_version: str, *, has_gpu: bool = False
) -> Entry | None:
    """The entry about this case, device and torch release; two are a mistake of the ledger."""
    found = [entry for entry in entries if entry.applies(case, device, torch_version, has_gpu=has_gpu)]
    if len(found) > 1:
        raise LedgerError(f"{case}: {len(found)} entries apply on {device} and torch {torch_version}; keep one")
    return found[0] if found else None


def unknown_cases(entries: Iterable[Entry], case_ids: Collection[str]) -> list[str]:
    """The cases that entries name and that do not exist, in the order of the entries."""
    return list(dict.fromkeys(entry.case for entry in entries if entry.case not in case_ids))


@dataclass(frozen=True)
class Failure:
    """A failure that a draft of a ledger is to describe."""

    case: str
    device: str
    phase: str
    observables: frozenset[str]
    exception: str | None
    reason: str
    script: str


def draft(failures: Iterable[Failure], torch_version: str) -> str:
    """The text of a ledger with one entry a failure, for this torch release only, to be completed by a person."""
    major, minor = (*Version(torch_version).release, 0)[:2]
    blocks = []
    for failure in failures:
        entry: dict[str, str | list[str]] = {
            "case": failure.case,
            "device": failure.device,
            "torch": f">={major}.{minor},<{major}.{minor + 1}",
            "phase": failure.phase,
        }
        if failure.exception is not None:
            entry["exception"] = failure.exception
        else:
            entry["observables"] = sorted(failure.observables)
        entry.update(reason=failure.reason, link=UNREPORTED, script=failure.script)
        blocks.append("[[failure]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in entry.items()))
    return "\n".join(blocks)


def _toml(value: str | list[str]) -> str:
    # A JSON text is a TOML text but for the one control character that JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
