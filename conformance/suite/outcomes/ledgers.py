"""The ledgers of a run: what each of its stacks, and each rung of torch's ladder below it, is known to break."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from conformance.contract.registry import nearest
from conformance.results import ledger
from conformance.results.bugs import Bug, LedgerError
from conformance.results.ledger import Entry, Ledger
from conformance.stacks import Stack
from conformance.suite.target import Target


class KnownFailures:
    """The ledgers of a run's stacks: those that ship beside the cases, and the user's own, which come first.

    ``root`` is the folder of the cases, None for cases that nothing ships with; ``own`` are the files of the user's.
    """

    def __init__(self, root: Path | None, stacks: Mapping[str, Stack], own: Sequence[str]) -> None:
        folder = root.parent / ledger.FOLDER if root is not None else None
        shipped = ledger.load_folder(folder) if folder is not None else {}
        #: The bugs that ship, which the user's ledgers may refer to.
        self.shared = ledger.load_bugs(folder) if folder is not None else {}
        named = [self.load(path, stacks) for path in own]
        self._of: dict[str, list[Ledger]] = {}
        self._below: dict[str, dict[str, Ledger]] = {}
        for name, stack in stacks.items():
            own_ones = [one for one in named if one.stack in stack.ledgers]
            self._of[name] = [
                one if one.stack == name else _excusing(one)
                for one in (*own_ones, *(shipped[one] for one in stack.ledgers if one in shipped))
            ]
            rungs = stack.ladder if stack.compiles else ()
            self._below[name] = {rung: shipped[rung] for rung in rungs if rung in shipped}

    def load(self, path: str, stacks: Mapping[str, Stack]) -> Ledger:
        """A ledger of the user's; refuses that of a stack that is none of the run's."""
        one = ledger.load(path, self.shared)
        if not any(one.stack in stack.ledgers for stack in stacks.values()):
            raise LedgerError(f"{path}: the ledger of {one.stack}, and this run is about {', '.join(stacks)}")
        return one

    def bugs_of_signatures(self, target: Target) -> dict[str, Bug]:
        """The ways in which generated programs are known to differ on a target, or a rung below it, and why."""
        ledgers = [*self._of[target.stack], *self._below[target.stack].values()]
        return ledger.known_signatures(ledgers, target.device, torch.__version__)

    def signatures(self, target: Target) -> frozenset[str]:
        """The ways in which generated programs are known to differ on a target and the running torch."""
        return frozenset(self.bugs_of_signatures(target))

    def entry(self, case: str, target: Target) -> Entry | None:
        """The entry about a case on a target and the running torch; a strict one has to be seen."""
        return next(filter(None, (_match(one, case, target.device) for one in self._of[target.stack])), None)

    def inherited(self, case: str, target: Target) -> dict[str, Entry]:
        """What the rungs of torch's ladder below the stack are known to fail a case with, by rung, lowest first."""
        below = self._below[target.stack]
        found = {rung: _match(one, case, target.device) for rung, one in below.items()}
        return {rung: entry for rung, entry in found.items() if entry is not None}

    def check(
        self, cases: Collection[str], listed_in: str, targets: Iterable[Target], by_scope: Collection[str] = ()
    ) -> None:
        """Refuse entries about cases that do not exist, and two entries about one failure.

        ``by_scope`` are cases, without parameters, whose rows the list cannot hold: longer scopes have more of them.
        """
        for one in itertools.chain(*self._of.values(), *(below.values() for below in self._below.values())):
            if unknown := ledger.unknown_cases(one.entries, cases, by_scope):
                more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
                hint = nearest(unknown[0], cases, limit=3)
                raise LedgerError(f"{one.path} names the unknown case {unknown[0]!r}{more} ({listed_in}; {hint})")
        self.check_duplicates(targets)

    def check_duplicates(self, targets: Iterable[Target]) -> None:
        """Refuse two entries about one failure."""
        for target in targets:
            for one in (*self._of[target.stack], *self._below[target.stack].values()):
                for entry in one.entries:
                    _match(one, entry.case, target.device)


def _excusing(one: Ledger) -> Ledger:
    """Another stack's ledger: what that one breaks, a stack that shares its failures need not break."""
    return replace(one, entries=tuple(replace(entry, strict=False) for entry in one.entries))


def _match(one: Ledger, case: str, device: str) -> Entry | None:
    return ledger.match(one.entries, case, device, torch.__version__)
