"""A search for programs that differ: workers on all cores, findings once each, results readable at any moment."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.contract.failure import Discrepancy
from conformance.generate.findings import CASE, Found
from conformance.results.result_file import CaseResult
from conformance.stacks import resolve
from conformance.suite.results_folder import ResultFolder
from conformance.suite.target import Target

#: Seconds after which a worker that still runs one program counts as hung.
HANG = 120.0
FOREVER = 10**9


@dataclass
class _Process:
    """A worker and what it has reported so far."""

    process: subprocess.Popen[str]
    current: Path
    share: int
    tried: int = 0
    ran_eagerly: int = 0
    ran: int = 0
    heard: float = field(default_factory=time.time)
    over: bool = False


class Campaign:
    """The search for programs on which one stack differs from eager, on one device."""

    def __init__(
        self,
        stack: str,
        device: str,
        *,
        results: Path,
        examples: int | None = None,
        minutes: float | None = None,
        seed: int = 0,
        database: str = "",
        workers: int = 0,
        known: Collection[str] = (),
        show: Callable[[str], None] = print,
    ) -> None:
        self.stack, self.device = resolve(stack), device
        self.spec = stack
        self.folder = results
        self.examples, self.seed = examples or FOREVER, seed
        self.until = time.time() + 60 * minutes if minutes else float("inf")
        self.database = database or str(results / "examples")
        self.workers = max(1, min(workers or os.cpu_count() or 1, self.examples))
        self.known = frozenset(known)
        self.show = show
        self.found: dict[str, Found] = {}
        self.tried = self.ran_eagerly = self.ran = 0
        self.started = time.time()
        target = Target(self.stack.name, device)
        options = {"explore": True, "examples": examples, "minutes": minutes, "seed": seed}
        self.target, self.results = target, ResultFolder(results, options, [target], {})

    @property
    def rate(self) -> float:
        """Programs run on both sides a second and worker, drawn ones and those tried while shrinking a finding."""
        return self.ran / max(time.time() - self.started, 1e-9) / self.workers

    @property
    def line(self) -> str:
        share = f"{self.ran_eagerly / self.tried:.0%} run in eager, " if self.tried else ""
        return (
            f"{self.tried} programs, {share}{self.ran} different ones run, shrinking included, "
            f"{self.rate:.1f}/s on each of {self.workers} workers, {len(self.found)} distinct findings"
        )

    def run(self) -> dict[str, Found]:
        """Search until the examples or the minutes are used up, or Ctrl-C; findings by signature."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                self._search(Path(folder))
            finally:
                self._finish()
        return self.found

    def _search(self, folder: Path) -> None:
        events: queue.Queue[tuple[_Process, dict[str, Any] | None]] = queue.Queue()
        shares = [self.examples // self.workers + (n < self.examples % self.workers) for n in range(self.workers)]
        running = [self._start(folder, n, share, self.seed * 1_000_003 + n, events) for n, share in enumerate(shares)]
        shown = time.time()
        restarts = self.workers
        try:
            while not all(one.over for one in running):
                try:
                    process, event = events.get(timeout=1.0)
                    if event is None:
                        if self._ended(process) and process.tried < process.share and time.time() < self.until:
                            seed = self.seed * 1_000_003 + restarts
                            running.append(
                                self._start(folder, restarts, process.share - process.tried - 1, seed, events)
                            )
                            restarts += 1
                    else:
                        process.heard = time.time()
                        self._told(folder, process, event)
                except queue.Empty:
                    pass
                for one in running:
                    if not one.over and one.process.poll() is None and self._hung(one):
                        one.process.kill()
                if time.time() - shown > 10:
                    shown = time.time()
                    self.show(self.line)
        finally:
            for one in running:
                if one.process.poll() is None:
                    one.process.kill()
                one.process.wait()

    def _start(self, folder: Path, number: int, share: int, seed: int, events: Any) -> _Process:
        current = folder / f"{number}.py"
        order = {
            "stack": self.spec,
            "device": self.device,
            "examples": share,
            "until": self.until,
            "seed": seed,
            "known": [*self.known, *self.found],
            "database": self.database,
            "current": str(current),
            "findings": str(folder),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance.generate.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.close()
        one = _Process(process, current, share)
        threading.Thread(target=_listen, args=(one, events), daemon=True).start()
        return one

    def _hung(self, one: _Process) -> bool:
        began = one.current.stat().st_mtime if one.current.exists() else one.heard
        return time.time() - max(began, one.heard) > HANG

    def _ended(self, one: _Process) -> bool:
        """Whether a worker ended before its time: what it tried last is then a finding."""
        one.over = True
        status = one.process.wait()
        if status == 0:
            return False
        if not one.current.exists():
            raise RuntimeError(f"a worker ended with status {status} before its first program")
        if status == -signal.SIGKILL:
            what = f"no result within {HANG:g} s"
        else:
            what = f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        text = one.current.read_text(encoding="utf-8")
        self._add(Found(f"crash: {what}", text, [Discrepancy("exception", "", "raises nothing", what)]))
        return True

    def _told(self, folder: Path, one: _Process, event: Mapping[str, Any]) -> None:
        if "signature" not in event:
            self.tried += event["tried"] - one.tried
            self.ran_eagerly += event["ran_eagerly"] - one.ran_eagerly
            self.ran += event["ran"] - one.ran
            one.tried, one.ran_eagerly, one.ran = event["tried"], event["ran_eagerly"], event["ran"]
            return
        discrepancies = [Discrepancy(**found) for found in event["discrepancies"]]
        found = Found(event["signature"], event["program"], discrepancies)
        (folder / f"{found.name}.signature").write_text(found.signature, encoding="utf-8")
        self._add(found)

    def _add(self, found: Found) -> None:
        if found.signature in self.found or found.signature in self.known:
            return
        self.found[found.signature] = found
        if not found.signature.startswith("crash:"):
            found.explain(self.stack, self.device, self.folder)
        self.results.add(found.result(self.target))
        said = "\n".join(f"  {one}" for one in found.discrepancies)
        written = f"\n  script: {found.script}" if found.script else ""
        self.show(f"\nfinding {len(self.found)}: {found.signature}\n\n{found.program}\n{said}{written}\n")

    def _finish(self) -> None:
        if not self.found and self.tried:
            clean = f"{self.tried} programs, none of them differs"
            self.results.add(
                CaseResult(
                    f"{CASE}all",
                    [],
                    "generated",
                    self.target.stack,
                    self.device,
                    "pass",
                    reason=clean,
                )
            )
        self.results.write_reports()
        self.show(self.line)


def _listen(one: _Process, events: Any) -> None:
    """Pass on the lines of a worker, and that it has ended."""
    assert one.process.stdout is not None
    for line in one.process.stdout:
        events.put((one, json.loads(line)))
    events.put((one, None))
