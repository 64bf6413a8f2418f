"""Edits a ledger as its author wrote it: adds what newly fails, removes what passes, keeps everything else as it is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from packaging.version import Version

from conformance.results import ledger
from conformance.results.bugs import UNREPORTED, Bug, LedgerError
from conformance.results.ledger import Entry

#: Where a table begins, with the comments that stand right above it.
_TABLE = re.compile(r"(?m)^(?:#[^\n]*\n)*\[(?:\[failure\]|\[signature\]|bugs\.)")
TO_BE_WRITTEN = "To be written: what is broken."


@dataclass(frozen=True)
class Failure:
    """A failure that an entry is to describe; ``script`` is the command or file that shows it."""

    case: str
    device: str
    phase: str
    observables: frozenset[str]
    exception: str | None
    script: str

    @property
    def signature(self) -> str:
        """What failures of one cause have in common: the phase, and what is raised or differs, without places."""
        names = {re.sub(r"\[[^\]]*\]", "", name).removeprefix("calls.") for name in self.observables}
        return f"{self.phase}: {self.exception or ', '.join(sorted(names))}"

    def table(self, bug: str, device: str, torch: str) -> dict[str, Any]:
        """The failure as it stands in a ledger."""
        seen: dict[str, Any] = {"exception": self.exception}
        if self.exception is None:
            seen = {"observables": sorted(self.observables)}
        where = {} if device == "*" else {"device": device}
        return {"bug": bug, "cases": [self.case], **where, "torch": torch, "phase": self.phase, **seen}


class LedgerText:
    """The text of a stack's ledger, edited for one torch release."""

    def __init__(self, text: str, where: str, stack: str, torch_version: str, shared: Mapping[str, Bug]) -> None:
        found = ledger.parse(text, where, shared)
        if found.stack != stack:
            raise LedgerError(f"{where}: the ledger of {found.stack}, and this run is about {stack}")
        self.stack, self.torch, self.shared = stack, torch_version, shared
        starts = [found.start() for found in _TABLE.finditer(text)]
        self._head = text[: starts[0]] if starts else text
        self._tables = [_Table(text[start:end]) for start, end in zip(starts, [*starts, None][1:], strict=True)]

    @classmethod
    def read(cls, path: Path, stack: str, torch_version: str, shared: Mapping[str, Bug]) -> LedgerText:
        """The ledger in a file, or a new one where there is none."""
        text = path.read_text(encoding="utf-8") if path.is_file() else f"stack = {tomlkit.item(stack).as_string()}\n"
        return cls(text, str(path), stack, torch_version, shared)

    @property
    def text(self) -> str:
        """The ledger, a blank line before each table."""
        return (
            "\n\n".join(part.strip("\n") for part in (self._head, *(one.text for one in self._tables)) if part.strip())
            + "\n"
        )

    def write(self, path: Path) -> None:
        """Write the ledger where it can be read back, and leave the file as it is where not."""
        ledger.parse(self.text, str(path), self.shared)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")

    def add(self, failures: Iterable[Failure]) -> list[str]:
        """Draft an entry for each failure of a case that has none, one bug a signature; a line for each failure."""
        said = []
        for one in failures:
            known = [entry for _, entry in self._entries() if entry.applies(one.case, one.device, self.torch)]
            if not known:
                bug = self._drafted(one.signature, one.script)
                self._put("failure", one.table(bug, one.device, self._release()), "cases")
                said.append(f"added: {one.case} on {one.device}: {one.signature}")
            elif not any(entry.explains(one.phase, one.observables, one.exception) for entry in known):
                said.append(f"kept: {one.case} on {one.device}: fails otherwise than listed")
        return said

    def add_signatures(self, found: Mapping[str, str], device: str) -> list[str]:
        """Draft an entry for each way in which generated programs differ, given with its script."""
        known = {name for table in self._tables for name in table.stated.get("signatures", ())}
        said = []
        for signature, script in found.items():
            if signature not in known:
                bug = self._drafted(signature, script)
                table = {"bug": bug, "device": device, "torch": self._release(), "signatures": [signature]}
                self._put("signature", table, "signatures")
                said.append(f"added: {signature}")
        return said

    def update(self, ran: Mapping[tuple[str, str], Failure | None]) -> list[str]:
        """Bring the entries of cases that ran up to date: by case and device its failure, None where it passes.

        What passes is removed, what fails otherwise than listed is rewritten; each is one line of what is returned.
        """
        said: list[str] = []
        for table, entry in self._entries():
            seen = {
                device: failure for (case, device), failure in ran.items() if entry.applies(case, device, self.torch)
            }
            wrong = {
                device: failure
                for device, failure in seen.items()
                if failure is None or not entry.explains(failure.phase, failure.observables, failure.exception)
            }
            if not wrong:
                continue
            table.edit("cases", remove=entry.case)
            above = ""
            if not table.stated["cases"]:
                self._tables.remove(table)
                above = table.comments
            for device in seen.keys() - wrong.keys():  # the entry was for all devices, and holds on this one
                self._put("failure", {**table.stated, "cases": [entry.case], "device": device}, "cases")
            for device, failure in wrong.items():
                if failure is None:
                    said.append(f"removed: {entry.case} on {device}: passes, {entry.describe()} was listed")
                    continue
                whole = entry.device == "*" and len(seen) == 1
                stated = failure.table(entry.bug.id, "*" if whole else device, entry.torch)
                self._put("failure", stated, "cases", above)
                listed = f"{entry.describe()} was listed, {_shown(failure)} is seen"
                said.append(f"rewritten: {entry.case} on {device}: {listed}")
        return said + self._without_unused_bugs()

    def _entries(self) -> list[tuple[_Table, Entry]]:
        return [(table, entry) for table in self._tables for entry in table.entries]

    def _put(self, kind: str, stated: Mapping[str, Any], listed: str, above: str = "") -> None:
        """Add the one thing that a table lists to the table that is the same but for that, or the whole table."""
        for table in self._tables:
            if table.same(kind, stated, listed):
                return table.edit(listed, add=stated[listed][0])
        return self._tables.append(_Table(above + _Table.of(kind, stated).text))

    def _drafted(self, signature: str, script: str) -> str:
        """The id of the bug of this ledger that a signature stands for, drafted where there is none."""
        title = f"{TO_BE_WRITTEN} Seen: {signature}"
        own = {table.id: table.stated["title"] for table in self._tables if table.kind == "bugs"}
        for name, known in own.items():
            if known == title:
                return str(name)
        words = re.sub(r"[^a-z0-9]+", "-", f"{self.stack} {signature}".lower()).strip("-").split("-")[:12]
        names = ("-".join(words if n == 1 else [*words, str(n)]) for n in itertools.count(1))
        name = next(name for name in names if name not in own)
        stated = {"id": name, "title": title, "link": UNREPORTED, "script": script}
        self._tables.append(_Table.of("bugs", stated))
        return name

    def _without_unused_bugs(self) -> list[str]:
        used = {table.stated["bug"] for table in self._tables if table.kind != "bugs"}
        unused = [table for table in self._tables if table.kind == "bugs" and table.id not in used]
        self._tables = [table for table in self._tables if table not in unused]
        return [f"removed: the bug {table.id}, which no entry refers to any more" for table in unused]

    def _release(self) -> str:
        major, minor = (*Version(self.torch).release, 0)[:2]
        return f">={major}.{minor},<{major}.{minor + 1}"


class _Table:
    """One table of a ledger: its text, with the comments above it, and what it says."""

    def __init__(self, text: str) -> None:
        self.rewrite(text)

    @classmethod
    def of(cls, kind: str, stated: Mapping[str, Any]) -> _Table:
        """A table that nobody has written yet; what it lists stands in lines of its own where there is more of it."""
        table = tomlkit.table()
        for key, value in stated.items():
            if isinstance(value, list):
                value = tomlkit.array(tomlkit.item(value).as_string()).multiline(len(value) > 1)
            table.add(key, value)
        document = tomlkit.document()
        if kind == "bugs":
            document.add(kind, tomlkit.table(is_super_table=True).add(stated["id"], table))
            table.remove("id")
        else:
            document.add(kind, tomlkit.aot())
            document[kind].append(table)
        return cls(tomlkit.dumps(document))

    def rewrite(self, text: str) -> None:
        self.text = text
        [(self.kind, value)] = tomlkit.parse(text).unwrap().items()
        #: The id of a bug; what the table says.
        self.id: str = next(iter(value)) if self.kind == "bugs" else ""
        self.stated: dict[str, Any] = value[self.id] if self.kind == "bugs" else value[0]

    @property
    def entries(self) -> list[Entry]:
        """The entries of a [[failure]] table; of their bug only the id is known."""
        if self.kind != "failure":
            return []
        stated = {"device": "*", **{key: value for key, value in self.stated.items() if key != "cases"}}
        stated["bug"] = Bug(stated["bug"], "", "")
        stated["observables"] = frozenset(stated.get("observables", ()))
        return [Entry(case, **stated) for case in self.stated["cases"]]

    @property
    def comments(self) -> str:
        """What somebody has written above the table."""
        return "".join(itertools.takewhile(lambda line: line.startswith("#"), self.text.splitlines(keepends=True)))

    def same(self, kind: str, stated: Mapping[str, Any], listed: str) -> bool:
        """Whether it is that table but for what it lists."""
        return self.kind == kind and {**self.stated, listed: None} == {**stated, listed: None}

    def edit(self, listed: str, *, add: str | None = None, remove: str | None = None) -> None:
        """Add to or remove from what it lists, and leave the rest of its text as it is."""
        document = tomlkit.parse(self.text)
        array: Any = document[self.kind][0][listed]
        if add is not None and add not in array:
            array.append(add)
            array.multiline(True)
        if remove is not None:
            array.remove(remove)
        self.rewrite(tomlkit.dumps(document))


def _shown(failure: Failure) -> str:
    return f"{failure.phase}: {failure.exception or ', '.join(sorted(failure.observables))}"
