"""A function run in a process of its own, where a stack may end the process or hang: its value, or how it ended."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.canonical.frames import first_to_read

#: Seconds between the time at which a child is to end itself and the one at which it is killed.
GRACE = 15.0
#: In a child: the seconds of a step, and the file to which a trace goes when they are over.
_TIME: list[tuple[float, Any]] = []
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')


class ChildError(ValueError):
    """What the function refused, in one line, with the words of its own error."""


@dataclass(frozen=True)
class Ended:
    """How a child ended that returned nothing: by which signal, exit status or time limit, and in which frame."""

    how: str
    frame: str = ""
    #: Whether its time was over: it hung, or the machine had no time for it.
    hung: bool = False

    def __str__(self) -> str:
        return f"{self.how} in {self.frame}" if self.frame else self.how


def call_in_child(
    function: str, arguments: dict[str, Any], seconds: float, *, steps: int = 1, quiet: bool = False
) -> Any:
    """What ``function`` ("module:name") returns for keyword arguments, both as JSON; `Ended` where no value came.

    The child's standard output goes to standard error, so that what a stack prints spoils nothing; with ``quiet`` both
    go nowhere. A `ValueError` of the function is a `ChildError` here. A function of several ``steps`` has its time for
    each of them and says with `next_step` that one begins.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer, trace = Path(folder) / "answer.json", Path(folder) / "trace"
        asked = json.dumps({"function": function, "arguments": arguments, "seconds": seconds})
        command = [sys.executable, "-m", __name__, str(answer), str(trace), asked]
        says = subprocess.DEVNULL if quiet else sys.__stderr__
        limit = seconds * steps + GRACE
        try:
            done = subprocess.run(command, stdout=says, stderr=says, env=_environment(), timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return _hung(seconds, trace)
        status = done.returncode
        if answer.is_file():
            found = json.loads(answer.read_text(encoding="utf-8"))
            if "refused" in found:
                raise ChildError(found["refused"])
            return found["value"]
        told = trace.read_text(encoding="utf-8", errors="replace") if trace.is_file() else ""
        if told.startswith("Timeout"):
            return _hung(seconds, trace)
        return Ended(way(status), last_frame(trace))


def _hung(seconds: float, trace: Path) -> Ended:
    return Ended(f"hung: no result within {seconds:g} s", last_frame(trace), hung=True)


def way(status: int) -> str:
    """How a process ended, by what its parent is told."""
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended by exit status {status}"


def _environment() -> dict[str, str]:
    """The environment with this project and the current folder, where backends may lie, to be imported from."""
    paths = [str(Path(__file__).parents[2]), str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def last_frame(trace: Path) -> str:
    """The innermost frame of the stack; the innermost one of all where it has none."""
    text = trace.read_text(encoding="utf-8", errors="replace") if trace.is_file() else ""
    crashed = text.partition("Current thread")[2]
    # Of a process that hangs all threads are there, and the first that was started comes last.
    running = (crashed or text.rpartition("Thread 0x")[2]).partition("\n\n")[0]
    found = [match.groupdict() for match in _FRAME.finditer(running)]
    if not found:
        return ""
    frame = found[first_to_read([one["file"] for one in found]) or 0]
    return f"{Path(frame['file']).name}:{frame['line']} ({frame['function']})"


def next_step() -> None:
    """In the child: the time of the step that begins now starts to run; nothing in any other process."""
    for seconds, file in _TIME:
        # A thread of its own that needs no lock of Python's: a stack that holds it while it hangs is told as well.
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)


def _answer(path: Path, trace: Path, asked: dict[str, Any]) -> None:
    """In the child: call the function and write what it returns."""
    with trace.open("w") as file:
        faulthandler.enable(file)
        _TIME.append((asked["seconds"], file))
        next_step()
        module, _, name = asked["function"].partition(":")
        try:
            value = {"value": getattr(importlib.import_module(module), name)(**asked["arguments"])}
        except ValueError as error:
            value = {"refused": " ".join(str(error).split())}
        faulthandler.cancel_dump_traceback_later()
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(value), encoding="utf-8")
        unfinished.rename(path)
        sys.stdout.flush()
        sys.stderr.flush()
        # What a stack does when Python ends (threads left behind, an atexit that raises) is no part of the answer.
        os._exit(0)


if __name__ == "__main__":
    # The module that functions of the child import, which is another one than the one that is run.
    from conformance.run import in_child

    in_child._answer(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
