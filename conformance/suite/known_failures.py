"""The ledgers of a run: what each of its stacks, and each rung of torch's ladder below it, is known to break."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import torch

from conformance.contract.registry import nearest
from conformance.results import ledger
from conformance.results.ledger import Entry, LedgerError
from conformance.stacks import Stack
from conformance.suite.target import Target


class KnownFailures:
    """The ledgers of a run's stacks: those that ship beside the cases, and the user's own, which come first."""

    def __init__(self, root: Path | None, stacks: Mapping[str, Stack], own: Sequence[str]) -> None:
        self._own = [entry for path in own for entry in ledger.load(path)]
        self._shipped: dict[str, list[list[Entry]]] = {}
        self._below: dict[str, dict[str, list[Entry]]] = {}
        self._files: dict[str, list[str | Path]] = {}
        for name, stack in stacks.items():
            files = ledger.shipped(root.parent / "known_failures", stack.ledgers) if root is not None else []
            self._shipped[name] = [ledger.load(file) for file in files]
            self._files[name] = [*own, *files]
            # What compiles nothing and what Dynamo does not capture goes through none of torch's rungs.
            rungs = stack.ladder if stack.compiles and stack.captured_by_dynamo and root is not None else ()
            self._below[name] = {
                rung: ledger.load(file)
                for rung in rungs
                for file in ledger.shipped(root.parent / "known_failures", [rung])  # type: ignore[union-attr]
            }

    def signatures(self, target: Target) -> frozenset[str]:
        """The ways in which generated programs are known to differ on a target and the running torch."""
        return frozenset(ledger.known_signatures(self._files[target.stack], target.device, torch.__version__))

    def entry(self, case: str, target: Target) -> Entry | None:
        """The stack's own entry about a case on a target and the running torch, which it has to fail as listed."""
        ledgers = (self._own, *self._shipped[target.stack])
        return next(filter(None, (_match(entries, case, target.device) for entries in ledgers)), None)

    def inherited(self, case: str, target: Target) -> dict[str, Entry]:
        """What the rungs of torch's ladder below the stack are known to fail a case with, by rung, lowest first."""
        found = {rung: _match(entries, case, target.device) for rung, entries in self._below[target.stack].items()}
        return {rung: entry for rung, entry in found.items() if entry is not None}

    def check(self, cases: Collection[str], listed_in: str, targets: Iterable[Target]) -> None:
        """Refuse entries about cases that do not exist, and two entries about one failure."""
        for stack, ledgers in {"--known-failures": [self._own], **self._shipped}.items():
            if unknown := ledger.unknown_cases(itertools.chain(*ledgers), cases):
                where = stack if stack.startswith("--") else f"the ledger of {stack}"
                more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
                hint = nearest(unknown[0], cases, limit=3)
                raise LedgerError(f"{where} names the unknown case {unknown[0]!r}{more} ({listed_in}; {hint})")
        self.check_duplicates(targets)

    def check_duplicates(self, targets: Iterable[Target]) -> None:
        """Refuse two entries about one failure."""
        for target in targets:
            for entry in itertools.chain(self._own, *self._shipped[target.stack]):
                self.entry(entry.case, target)


def _match(entries: Iterable[Entry], case: str, device: str) -> Entry | None:
    return ledger.match(entries, case, device, torch.__version__, has_gpu=torch.cuda.is_available())
