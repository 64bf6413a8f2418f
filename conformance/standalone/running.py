"""Pasted into scripts: from a case to an exit status: configuration, what is counted, a stack that ends the process."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch._dynamo
import torch._dynamo.utils

from conformance.canonical.wrapped import error_text
from conformance.standalone.differing import compare
from conformance.standalone.observing import observe
from conformance.standalone.stepping import Case, Side, modes_restored

#: Set in the process in which a script runs a stack that ends it or hangs.
IN_CHILD = "STACK_MAY_END_THIS_PROCESS"


@contextlib.contextmanager
def configured(config: Mapping[str, Any]) -> Iterator[None]:
    """The config of a run, as far as this release has it."""
    with contextlib.ExitStack() as patches:
        for name, value in config.items():
            prefix, _, key = name.partition(".")
            module: Any = importlib.import_module(f"torch._{prefix}.config")
            try:
                patches.enter_context(module.patch({key: value}))
            except (AttributeError, KeyError):
                print(f"torch {torch.__version__} has no config {name}", file=sys.stderr)
        yield


class Lines(logging.Handler):
    """Counts the lines of a logger."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def otherwise_compiled(promised: Mapping[str, str], recompiles: Lines) -> Iterator[str]:
    """One line for each count that is not as the case says."""
    counters = torch._dynamo.utils.counters
    counted = {
        "graphs": counters["stats"]["unique_graphs"],
        "recompiles": recompiles.count,
        "graph_breaks": sum(counters["graph_break"].values()),
    }
    for name, wanted in promised.items():
        if str(counted[name]) != wanted and not (wanted == "at least one" and counted[name]):
            yield f"{name}: the case says {wanted}, counted {counted[name]}"


def otherwise_raised(says: str, stack: Side, lines: list[str]) -> list[str]:
    """The lines, with one for an error of another text than the case says; without one for the error that it says."""
    seen = " ".join(error_text(stack.raised).split())
    if seen != says:
        return [f"error.expectation: the case says {says}, stack {seen}", *lines]
    return [line for line in lines if not line.startswith("exception: eager raises nothing")]


def differing(case: Case) -> list[str]:
    """Both sides, one after the other: a line for everything that differs."""
    recompiles = Lines()
    if case.threads:
        torch.set_num_threads(case.threads)
    with modes_restored():
        eager = observe(case, compiled=False)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    if case.promised:
        torch._logging.set_logs(recompiles=True, graph_breaks=True)  # type: ignore[attr-defined]
        logging.getLogger("torch._dynamo.guards.__recompiles").addHandler(recompiles)
    with modes_restored(), configured(case.config):
        stack = observe(case, compiled=True)
    lines = [*compare(eager, stack, case.off_by), *otherwise_compiled(case.promised, recompiles)]
    lines = otherwise_raised(case.says, stack, lines) if case.says else lines
    return [f"{case.name}.{line}" if case.name else line for line in lines]


def ended(case: Case) -> int:
    """Run this script in a child: its exit status, and 1 where the stack ends it or hangs."""
    command = [sys.executable, *sys.argv]
    try:
        done = subprocess.run(command, env={**os.environ, IN_CHILD: "1"}, timeout=case.in_child)
    except subprocess.TimeoutExpired:
        print(f"exception: eager raises nothing, stack hangs: no result within {case.in_child:g} s\ndiffers")
        return 1
    if done.returncode in (0, 1, 2):
        return done.returncode
    signals = {int(one): one.name for one in signal.Signals}
    how = signals.get(-done.returncode, f"exit status {done.returncode}")
    print(f"exception: eager raises nothing, stack ends the process: {how}\ndiffers")
    return 1


def main(*cases: Case) -> int:
    """Print what differs: exit status 1 where something does, 0 where nothing, 2 where the script cannot be run."""
    if cases[0].in_child and IN_CHILD not in os.environ:
        return ended(cases[0])
    try:
        lines = [line for case in cases for line in differing(case)]
    except Exception as error:
        said = next(iter(str(error).splitlines()), "")
        print(f"the script failed: {type(error).__name__}: {said}")
        return 2
    for line in lines or ["conforms"]:
        print(" ".join(line.split()))
    return 1 if lines else 0
