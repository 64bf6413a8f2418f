"""What a run of the suite is about: cases, targets, ledgers and shards, from its options. Knows nothing of pytest."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import torch

from conformance.contract.catalog import MANIFEST, is_root, without_root
from conformance.contract.registry import AREAS, nearest
from conformance.contract.scopes import PROFILES
from conformance.program import devices
from conformance.results import ledger
from conformance.results.result_file import CaseResult, Key, Results, ResultsError
from conformance.stacks import Stack, resolve

DEFAULT_STACKS = ("aot_eager", "inductor")


class SessionError(ValueError):
    """Wrong options; one line that says what exists."""


class DeviceRequired(ValueError):
    """A device that must be there is absent: the run fails, though nothing is wrong with its options."""


@dataclass(frozen=True)
class Target:
    """A stack on a device, as it stands in brackets in a pytest id."""

    stack: str
    device: str

    def __str__(self) -> str:
        return f"{self.stack}-{self.device}"


def area_of(case: str) -> str:
    return case.split("/", 1)[0]


def root_of(file: Path) -> Path | None:
    """The cases root above a file: the folder whose child on the way is an area."""
    return next((parent.parent for parent in file.parents if parent.name in AREAS), None)


def root_among(arguments: Iterable[str]) -> Path | None:
    """The root of the cases that pytest's arguments name."""
    for argument in arguments:
        path = Path(argument.partition("::")[0]).resolve()
        for candidate in (path, path / "cases"):
            if is_root(candidate):
                return candidate
        if (found := root_of(path / "file")) is not None:
            return found
    return None


def case_id(nodeid: str, base: PurePath, targets: Iterable[Target]) -> tuple[str, Target | None]:
    """A case's id, ``area/file.py::name[own parameters]``, and its target, from a pytest id relative to ``base``."""
    path, _, name = nodeid.partition("::")
    parts = PurePath(os.path.normpath(base / path)).parts
    start = max((number for number, part in enumerate(parts[:-1]) if part in AREAS), default=None)
    path = path if start is None else "/".join(parts[start:])
    function, bracket, parameters = name.partition("[")
    if bracket:
        parameters = parameters.removesuffix("]")
        # The longest first: one stack's name may begin another's.
        for target in sorted(targets, key=lambda target: -len(str(target))):
            text = str(target)
            if parameters == text:
                return f"{path}::{function}", target
            if parameters.startswith(f"{text}-"):
                return f"{path}::{function}[{parameters[len(text) + 1 :]}]", target
    return f"{path}::{name}", None


def manifest(root: Path) -> list[str] | None:
    """The ids that the manifest lists; None without a manifest."""
    file = root / MANIFEST
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else None


class KnownFailures:
    """The ledgers of a run's stacks: those that ship beside the cases, and the user's own, which come first."""

    def __init__(self, root: Path | None, stacks: Mapping[str, Stack], own: Sequence[str]) -> None:
        self._own = [entry for path in own for entry in ledger.load(path)]
        self._shipped: dict[str, list[list[ledger.Entry]]] = {}
        self._files: dict[str, list[str | Path]] = {}
        for name, stack in stacks.items():
            files = ledger.shipped(root.parent / "known_failures", stack.ledgers) if root is not None else []
            self._shipped[name] = [ledger.load(file) for file in files]
            self._files[name] = [*own, *files]

    def signatures(self, target: Target) -> frozenset[str]:
        """The ways in which generated programs are known to differ on a target and the running torch."""
        return frozenset(ledger.known_signatures(self._files[target.stack], target.device, torch.__version__))

    def entry(self, case: str, target: Target) -> ledger.Entry | None:
        """The entry about a case on a target and the running torch."""
        for entries in (self._own, *self._shipped[target.stack]):
            if found := ledger.match(
                entries, case, target.device, torch.__version__, has_gpu=torch.cuda.is_available()
            ):
                return found
        return None

    def check(self, cases: Collection[str], listed_in: str, targets: Iterable[Target]) -> None:
        """Refuse entries about cases that do not exist, and two entries about one failure."""
        for stack, ledgers in {"--known-failures": [self._own], **self._shipped}.items():
            if unknown := ledger.unknown_cases(itertools.chain(*ledgers), cases):
                where = stack if stack.startswith("--") else f"the ledger of {stack}"
                more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
                hint = nearest(unknown[0], cases, limit=3)
                raise SessionError(f"{where} names the unknown case {unknown[0]!r}{more} ({listed_in}; {hint})")
        self.check_duplicates(targets)

    def check_duplicates(self, targets: Iterable[Target]) -> None:
        for target in targets:
            for entry in itertools.chain(self._own, *self._shipped[target.stack]):
                self.entry(entry.case, target)


def shard_of(text: str) -> tuple[int, int] | None:
    """``I/N`` as numbers."""
    if not text:
        return None
    matched = re.fullmatch(r"(\d+)/(\d+)", text)
    if not matched or not 1 <= int(matched[1]) <= int(matched[2]):
        raise SessionError(f"--shard takes I/N with 1 <= I <= N, as 2/4, not {text!r}")
    return int(matched[1]), int(matched[2])


def in_shard(cases: Iterable[str], shard: tuple[int, int] | None) -> set[str]:
    """Every N-th case by id, so that each shard has the same share of each area."""
    index, count = shard or (1, 1)
    return set(sorted(set(cases))[index - 1 :: count])


def resumed(folder: str, targets: Collection[Target]) -> dict[Key, CaseResult]:
    """What an earlier run found as expected on these targets; those cases are not run again.

    What it did not run (an absent device, an undeclared capability) is found out again: that takes no time, and the
    machine or the stack may be another one.
    """
    if not folder:
        return {}
    try:
        earlier = Results.read(Path(folder) / "results.json")
    except ResultsError as error:
        raise SessionError(f"--resume: {error}") from error
    release = earlier.environment.get("torch")
    if release != torch.__version__:
        raise SessionError(f"--resume: {folder} holds results of torch {release}; this is torch {torch.__version__}")
    return {
        key: one
        for key, one in earlier.by_key().items()
        if one.outcome in ("pass", "known_failure") and Target(one.stack, one.device) in targets
    }


class Session:
    """The options of a run, checked; ``kept`` are the results of an earlier run that it goes on with."""

    def __init__(self, option: Any, arguments: Sequence[str], kept: Collection[Key] | None = None) -> None:
        for area in option.area:
            if area not in AREAS:
                raise SessionError(f"unknown area {area!r}; {nearest(area, AREAS)}")
        if option.profile not in PROFILES:
            raise SessionError(f"unknown profile {option.profile!r}; known: {', '.join(PROFILES)}")
        self.option = option
        found = [resolve(name) for name in option.stack or DEFAULT_STACKS]
        self.stacks: dict[str, Stack] = {stack.name: stack for stack in found}
        named = devices.resolve([*option.device, *option.require_device]) if option.device else devices.resolve(())
        self.devices = {name: devices.device(name) for name in named}
        devices.resolve(option.require_device)
        self.targets = [Target(stack, device) for stack in self.stacks for device in self.devices]
        if option.write_known_failures and len(self.stacks) > 1:
            raise SessionError("--write-known-failures drafts the ledger of one stack: name it with --stack")
        self.shard = shard_of(option.shard)
        self.kept: Mapping[Key, CaseResult] = resumed(option.resume, self.targets) if kept is None else {}
        self.kept_keys = frozenset(self.kept if kept is None else kept)
        self.root = root_among(arguments)
        self.ledgers = KnownFailures(self.root, self.stacks, option.known_failures)
        self.listed = manifest(self.root) if self.root is not None else None
        if self.listed is not None:
            self.ledgers.check(self.listed, f"cases/{MANIFEST} lists the known ones", self.targets)
        self.ledgers.check_duplicates(self.targets)

    def require_devices(self) -> None:
        for name in self.option.require_device:
            if not self.devices[name].available:
                raise DeviceRequired(f"--require-device {name}: {self.devices[name].reason}")

    def selected(self, cases: Sequence[tuple[str, Target]]) -> list[bool]:
        """Which cases on which targets this run is about: its areas, its shard, and nothing that is kept."""
        shard = in_shard((case for case, _ in cases), self.shard)
        areas = self.option.area or AREAS
        named = {without_root(case) for case in self.option.case}
        return [
            (not named or case in named)
            and case in shard
            and area_of(case) in areas
            and (case, target.stack, target.device) not in self.kept_keys
            for case, target in cases
        ]

    def not_run(self, target: Target, needs: Iterable[str], profiles: Collection[str]) -> tuple[str, str] | None:
        """Why a case is not run: an absent device, what the stack does not declare, a profile without it."""
        record = self.devices[target.device]
        if not record.available:
            return "unavailable", record.reason
        lacking = [name for name in needs if name not in self.stacks[target.stack].capabilities]
        if lacking:
            return "not_applicable", f"{target.stack} does not declare {', '.join(lacking)}"
        if self.option.profile not in profiles:
            return "not_applicable", f"runs in the profiles {' and '.join(profiles)}"
        return None

    def is_full(self, arguments: Sequence[str]) -> bool:
        """Whether the run is about all cases, so that one without a result is missing."""
        narrowing = (
            "area",
            "case",
            "keyword",
            "markexpr",
            "shard",
            "deselect",
            "ignore",
            "ignore_glob",
            "maxfail",
            "lf",
        )
        if self.root is None or any(getattr(self.option, name, None) for name in narrowing):
            return False
        return any(Path(one).resolve() in (self.root, self.root.parent) for one in arguments)
