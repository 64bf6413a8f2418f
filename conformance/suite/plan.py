"""What a run of the suite is about: cases, targets, ledgers and shards, from its options. Knows nothing of pytest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from conformance.capability_search.search import described
from conformance.contract.catalog import (
    MANIFEST,
    cases_by_clause,
    cases_by_scope,
    full_only,
    function_of,
    is_root,
    without_root,
)
from conformance.contract.registry import AREAS, clauses, nearest
from conformance.contract.scopes import in_scope
from conformance.program import devices
from conformance.results.result_file import CaseResult, Key, Results, ResultsError
from conformance.stacks import Stack, resolve
from conformance.suite.outcomes.ledgers import KnownFailures
from conformance.suite.target import Target

DEFAULT_STACKS = ("aot_eager", "inductor")


class PlanError(ValueError):
    """Wrong options; one line that says what exists."""


class DeviceRequired(ValueError):
    """A device that must be there is absent: the run fails, though nothing is wrong with its options."""


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


def manifest(root: Path) -> list[str] | None:
    """The ids that the manifest lists; None without a manifest."""
    file = root / MANIFEST
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else None


def shard_of(text: str) -> tuple[int, int] | None:
    """``I/N`` as numbers."""
    if not text:
        return None
    matched = re.fullmatch(r"(\d+)/(\d+)", text)
    if not matched or not 1 <= int(matched[1]) <= int(matched[2]):
        raise PlanError(f"--shard takes I/N with 1 <= I <= N, as 2/4, not {text!r}")
    return int(matched[1]), int(matched[2])


def in_shard(cases: Iterable[str], shard: tuple[int, int] | None) -> set[str]:
    """Every N-th case by id, so that each shard has the same share of each area."""
    index, count = shard or (1, 1)
    return set(sorted(set(cases))[index - 1 :: count])


def resumed(folder: str, targets: Collection[Target]) -> dict[Key, CaseResult]:
    """What an earlier run found as expected on these targets; those cases are not run again.

    Nothing is kept where it was interrupted before its first result. What it did not run (an absent device, an
    undeclared capability) is found out again: that takes no time, and the machine or the stack may be another one.
    """
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise PlanError(f"--resume: there is no folder {folder}")
    if not (Path(folder) / "results.json").is_file():
        return {}
    try:
        earlier = Results.read(Path(folder) / "results.json")
    except ResultsError as error:
        raise PlanError(f"--resume: {error}") from error
    release = earlier.environment.get("torch")
    if release != torch.__version__:
        raise PlanError(f"--resume: {folder} holds results of torch {release}; this is torch {torch.__version__}")
    return {
        key: one
        for key, one in earlier.by_key().items()
        if one.outcome in ("pass", "known_failure", "inherited") and Target(one.stack, one.device) in targets
    }


class Plan:
    """The options of a run, checked; ``kept`` are the results of an earlier run that it goes on with."""

    def __init__(self, option: Any, arguments: Sequence[str], kept: Collection[Key] | None = None) -> None:
        for area in option.area:
            if area not in AREAS:
                raise PlanError(f"unknown area {area!r}; {nearest(area, AREAS)}")
        self.option = option
        stacks = {name: resolve(name) for name in option.stack or DEFAULT_STACKS}
        listing = getattr(option, "collectonly", False)  # which cases there are, of which a ledger may know more
        found = [stack if listing else described(stack, name) for name, stack in stacks.items()]
        self.stacks: dict[str, Stack] = {stack.name: stack for stack in found}
        named = devices.resolve([*option.device, *option.require_device]) if option.device else devices.resolve(())
        self.devices = {name: devices.device(name) for name in named}
        devices.resolve(option.require_device)
        self.targets = [Target(stack, device) for stack in self.stacks for device in self.devices]
        #: The stacks that a case function is run on, by its id, where not every function is run on all of them.
        self.stacks_of: Mapping[str, Collection[str]] | None = None
        #: Whether the run is about all cases, whatever the scope.
        self.all_cases = False
        #: The ledgers to edit after the run, and whether what they list is brought up to date.
        self.edited_ledgers = [
            (Path(path), update)
            for path, update in ((option.update_known_failures, True), (option.write_known_failures, False))
            if path
        ]
        if self.edited_ledgers and len(self.stacks) > 1:
            raise PlanError("--write- and --update-known-failures edit the ledger of one stack: name it with --stack")
        self.shard = shard_of(option.shard)
        self.kept: Mapping[Key, CaseResult] = resumed(option.resume, self.targets) if kept is None else {}
        self.kept_keys = frozenset(self.kept if kept is None else kept)
        self.root = root_among(arguments)
        self.ledgers = KnownFailures(self.root, self.stacks, option.known_failures)
        for path, update in self.edited_ledgers:
            if update or path.exists():
                self.ledgers.load(str(path), self.stacks)
        self.listed = manifest(self.root) if self.root is not None else None
        if self.root is not None and self.listed is not None and not listing:
            where = f"cases/{MANIFEST} lists the known ones"
            self.ledgers.check(self.listed, where, self.targets, cases_by_scope(self.root))
        self.ledgers.check_duplicates(self.targets)

    @property
    def traced(self) -> frozenset[str]:
        """The stacks on which the texts that the suite traces itself are compared, once a device: they are torch's.

        That is `aot_eager` where it runs, else the first of torch's own stacks behind AOTAutograd; and mutants.
        """
        own = [name for name, stack in self.stacks.items() if stack.exact and not stack.always_traced]
        first = ["aot_eager"] if "aot_eager" in own else own[:1]
        return frozenset([*first, *(name for name, stack in self.stacks.items() if stack.always_traced)])

    def targets_of(self, function: str) -> list[Target]:
        """The targets of a case function: one at least, since pytest makes a test of no targets too."""
        if self.stacks_of is None:
            return self.targets
        stacks = self.stacks_of.get(function, ())
        return [target for target in self.targets if target.stack in stacks] or self.targets[:1]

    def require_devices(self) -> None:
        for name in self.option.require_device:
            if not self.devices[name].available:
                raise DeviceRequired(f"--require-device {name}: {self.devices[name].reason}")

    def selected(self, cases: Sequence[tuple[str, Target, Collection[str]]]) -> list[bool]:
        """Which cases, with the rows of their clauses, this run is about: its areas, scope and shard, none kept."""
        areas = self.option.area or AREAS
        named = {without_root(case) for case in self.option.case}
        left_out = self.left_out
        inside = (
            case
            for case, _, rows in cases
            if case in named or (in_scope(self.option.scope, rows) and case not in left_out)
        )
        shard = in_shard(inside, self.shard)
        return [
            (not named or case in named)
            and case in shard
            and area_of(case) in areas
            and (case, target.stack, target.device) not in self.kept_keys
            for case, target, _ in cases
        ]

    def expected(self) -> list[str]:
        """The cases of the manifest that belong to the run's scope, which each have a result in a full run.

        A listed case that is no longer there has no clause that says its scope: it is missing, but not in `core`.
        """
        if self.root is None or self.listed is None:
            return []
        known, scope, left_out = clauses(), self.option.scope, self.left_out
        belongs = {
            case: in_scope(scope, known[name].rows)
            for name, cases in cases_by_clause(self.root).items()
            if name in known
            for case in cases
        }
        belonging = [case for case in self.listed if belongs.get(function_of(case), scope != "core")]
        return [case for case in belonging if case not in left_out]

    @property
    def left_out(self) -> frozenset[str]:
        """The cases that only longer scopes run."""
        if self.root is None or self.option.scope != "quick" or self.all_cases:
            return frozenset()
        return full_only(self.root)

    def not_run(
        self, target: Target, needs: Iterable[str], scopes: Collection[str], no_judge: str = ""
    ) -> tuple[str, str] | None:
        """Why a case is not run: a device that is absent or no judge, a capability that lacks, a scope without it."""
        record = self.devices[target.device]
        if not record.available:
            return "unavailable", record.reason
        lacking = [name for name in needs if name not in self.stacks[target.stack].capabilities]
        if lacking:
            return "not_applicable", f"{target.stack} does not declare {', '.join(lacking)}"
        if scopes and not self.all_cases and self.option.scope not in scopes:
            return "not_applicable", f"runs in the scopes {' and '.join(scopes)}"
        if no_judge:
            return "not_applicable", no_judge
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
