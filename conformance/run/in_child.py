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
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Seconds between the time at which a child is to end itself and the one at which it is killed.
GRACE = 15.0
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')


class ChildError(ValueError):
    """What the function refused, in one line, with the words of its own error."""


@dataclass(frozen=True)
class Ended:
    """How a child ended that returned nothing: by which signal, exit status or time limit, and in which frame."""

    how: str
    frame: str = ""

    def __str__(self) -> str:
        return f"{self.how} in {self.frame}" if self.frame else self.how


def call_in_child(function: str, arguments: dict[str, Any], seconds: float) -> Any:
    """What ``function`` ("module:name") returns for keyword arguments, both as JSON; `Ended` where no value came.

    The child's standard output goes to standard error, so that what a stack prints spoils nothing. A `ValueError` of
    the function is a `ChildError` here.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer, trace = Path(folder) / "answer.json", Path(folder) / "trace"
        asked = json.dumps({"function": function, "arguments": arguments, "seconds": seconds})
        command = [sys.executable, "-m", __name__, str(answer), str(trace), asked]
        try:
            status = subprocess.run(command, stdout=sys.__stderr__, timeout=seconds + GRACE, check=False).returncode
        except subprocess.TimeoutExpired:
            return Ended(f"hung: no result within {seconds:g} s", _last_frame(trace))
        if answer.is_file():
            found = json.loads(answer.read_text(encoding="utf-8"))
            if "refused" in found:
                raise ChildError(found["refused"])
            return found["value"]
        told = trace.read_text(encoding="utf-8", errors="replace") if trace.is_file() else ""
        if told.startswith("Timeout"):
            return Ended(f"hung: no result within {seconds:g} s", _last_frame(trace))
        if status < 0:
            return Ended(f"killed by {signal.Signals(-status).name}", _last_frame(trace))
        return Ended(f"ended by exit status {status}", _last_frame(trace))


def _last_frame(trace: Path) -> str:
    """The innermost frame outside of Python, torch and this project; the innermost one where there is none."""
    text = trace.read_text(encoding="utf-8", errors="replace") if trace.is_file() else ""
    running = text.partition("(most recent call first)")[2].partition("\n\n")[0]
    found = [match.groupdict() for match in _FRAME.finditer(running)]
    if not found:
        return ""
    ours = str(Path(__file__).parents[1])
    others = (ours, sysconfig.get_path("stdlib"), "<", f"{os.sep}torch{os.sep}")
    foreign = [one for one in found if not one["file"].startswith(others[:3]) and others[3] not in one["file"]]
    packaged = [one for one in found if "site-packages" in one["file"] and others[3] not in one["file"]]
    frame = next(iter([*foreign, *packaged, *found]))
    return f"{Path(frame['file']).name}:{frame['line']} ({frame['function']})"


def _answer(path: Path, trace: Path, asked: dict[str, Any]) -> None:
    """In the child: call the function and write what it returns."""
    with trace.open("w") as file:
        faulthandler.enable(file)
        # A thread of its own that needs no lock of Python's: a stack that holds it while it hangs is told as well.
        faulthandler.dump_traceback_later(asked["seconds"], exit=True, file=file)
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
    _answer(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
