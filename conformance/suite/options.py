"""The options of a run, each declared once: for the command line, pytest, the workers and the saved results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.contract.catalog import cases_root
from conformance.contract.run_environment import SPEEDUPS, THREADS, speedups_asked
from conformance.contract.scopes import SCOPES, UnknownScope
from conformance.results import ledger

if TYPE_CHECKING:
    import pytest

#: Seconds that a case may take.
SECONDS = 300.0


class UsageError(Exception):
    """Wrong usage: one line that says what exists instead."""


def _option(help: str, default: Any = None, *, flag: str = "", of_pytest: bool = False, **more: Any) -> Any:
    """An option; ``flag`` is its name where that is not the field's, ``of_pytest`` says that pytest has it already.

    In ``more``: ``saved=False`` leaves it out of the results, ``variable`` is how processes of the run learn of it.
    """
    metadata = {"help": help, "flag": flag, "of_pytest": of_pytest, "saved": True, "variable": "", **more}
    if default is None:
        return field(default_factory=list, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class RunOptions:
    """How a run is asked for; a list is an option that repeats."""

    stack: list[str] = _option("Stack by name, module:callable, or TOML file; default: aot_eager and inductor.")
    device: list[str] = _option("cpu or cuda; default: both, and cases of an absent one are unavailable.")
    area: list[str] = _option("Area of the contract.")
    case: list[str] = _option("A case by its exact id.")
    keyword: str = _option("Only cases whose names match, as pytest's -k.", "", flag="-k", of_pytest=True)
    workers: str = _option("Worker processes: a number, or auto.", "1", flag="-n", of_pytest=True, saved=False)
    scope: str = _option(f"How much is run: {', '.join(SCOPES)}.", "quick")
    known_failures: list[str] = _option("A ledger of your own, beside the shipped ones.", saved=False)
    write_known_failures: str = _option(
        "Add what fails to this ledger, a new one or one that somebody has worked on.", "", saved=False
    )
    update_known_failures: str = _option(
        "Remove from this ledger what passes, and rewrite what fails otherwise.", "", saved=False
    )
    require_device: list[str] = _option("Fail when this device is absent.")
    timeout: float = _option("Seconds after which a case has hung.", SECONDS, of_pytest=True)
    threads: int = _option("Threads of one operator; with more, strides depend on the machine.", 1, variable=THREADS)
    speedups: bool = _option(
        f"Build code in faster ways that no user has; also by {SPEEDUPS}=1.", False, variable=SPEEDUPS
    )
    keep_cache: bool = _option("Keep what is compiled for the next run, below ~/.cache/torch-conformance.", False)
    shard: str = _option("I/N: the I-th of N equal parts of the cases.", "")
    results: str = _option("Folder for results.json, report.html, summary.md and scripts of failures.", "", saved=False)
    resume: str = _option("Folder of an interrupted run: what passed there is kept.", "", saved=False)

    @classmethod
    def of(cls, parsed: Any) -> RunOptions:
        """The options as pytest parsed them."""
        return cls(**{one.name: getattr(parsed, one.name) for one in fields(cls) if hasattr(parsed, one.name)})

    def check(self) -> None:
        """Refuse in one line what pytest would refuse in many."""
        check_workers(self.workers)
        check_ledgers(self.known_failures)
        self.check_values()
        if self.resume and not Path(self.resume).is_dir():
            raise UsageError(f"--resume: there is no folder {self.resume}")
        from _pytest.mark.expression import Expression

        try:
            Expression.compile(self.keyword)
        except Exception as error:
            raise UsageError(f"-k {self.keyword!r}: {error}") from error

    def check_values(self) -> None:
        """Refuse what no run can be made of, however it was asked for."""
        if self.scope not in SCOPES:
            raise UnknownScope(f"unknown scope {self.scope!r}; known: {', '.join(SCOPES)}")
        if self.threads < 1:
            raise ValueError(f"--threads takes a number from 1 on, not {self.threads}")
        if not self.timeout > 0:
            raise ValueError(f"--timeout takes seconds, more than 0, not {self.timeout:g}")

    def arguments(self) -> list[str]:
        """The options as pytest's arguments, those that are not as they are anyway."""
        found: list[str] = []
        for one in fields(self):
            value, flag = getattr(self, one.name), flag_of(one)
            if isinstance(value, list):
                found += [f"{flag}={item}" for item in value]
            elif value is True:
                found.append(flag)
            elif value != default_of(one) and one.name != "workers":
                found += [flag, str(value)] if one.metadata["flag"] else [f"{flag}={value}"]
        return found

    def environment(self) -> dict[str, str]:
        """What the processes of the run find in their environment."""
        values = {one.metadata["variable"]: getattr(self, one.name) for one in fields(self)}
        return {variable: str(int(value)) for variable, value in values.items() if variable}

    def saved(self) -> dict[str, Any]:
        """The options as they stand in results.json, and in sentences what a run does otherwise than its user would."""
        stated = {one.name: getattr(self, one.name) for one in fields(self) if one.metadata["saved"]}
        return {**stated, "left_out": self.left_out()}

    def left_out(self) -> list[str]:
        """What a run leaves out or sets, one sentence each."""
        from conformance.stacks import config, skipped_logging, speedups

        own = [
            f"An operator uses {self.threads} thread{'s' if self.threads > 1 else ''}.",
            "Python goes through all objects for garbage a fifth as often.",
            "Of torch's structured trace, only what is read is written.",
        ]
        faster = list(speedups.SENTENCES) if self.speedups else []
        return [*skipped_logging.SENTENCES, *config.SENTENCES, *own, *faster]


def flag_of(one: Any) -> str:
    """The option of a field as it is typed."""
    flag: str = one.metadata["flag"] or f"--{one.name.replace('_', '-')}"
    return flag


def default_of(one: Any) -> Any:
    """The value of a field that nobody states."""
    return one.default if one.default is not MISSING else []


def add_to(group: pytest.OptionGroup) -> None:
    """Give pytest the options that it does not have."""
    for one in fields(RunOptions):
        if one.metadata["of_pytest"]:
            continue
        default = default_of(one)
        more: dict[str, Any] = {"action": "store_true"} if default is False else {"metavar": "X"}
        if isinstance(default, list):
            more["action"] = "append"
        elif default is not False:
            more["type"] = type(default)
        group.addoption(flag_of(one), default=default, help=one.metadata["help"], **more)


def from_environment(option: Any) -> None:
    """Ask for the speed-ups where the environment does."""
    option.speedups = option.speedups or speedups_asked()


def check_workers(workers: str) -> None:
    """Refuse what is no number of worker processes."""
    if not (workers.isdecimal() or workers in ("auto", "logical")):
        raise UsageError(f"-n takes a number or auto, not {workers!r}")


def check_ledgers(paths: Sequence[str]) -> None:
    """Refuse a ledger that cannot be read."""
    shared = ledger.load_bugs(cases_root().parent / ledger.FOLDER) if paths else {}
    for path in paths:
        ledger.load(path, shared)
