"""How a worker ended that a stack took with it: by which signal or exit status, and in which frame of the stack."""

from __future__ import annotations

import contextlib
import faulthandler
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from conformance.run.in_child import Ended, last_frame, way

#: The file of a worker to which Python writes where it was when it crashed.
TRACE = "conformance_trace"
#: Seconds in which a process is gone whose connection has broken.
SECONDS = 10.0


def note_where_it_crashes(config: pytest.Config) -> None:
    """In a worker: a crash writes its trace to a file of its own, and not among what the run prints."""
    path = getattr(config, "workerinput", {}).get(TRACE)
    if path is not None:
        file = Path(path).open("w")  # noqa: SIM115 - it is there for as long as the process
        faulthandler.enable(file)
        config.add_cleanup(file.close)


class EndedWorkers:
    """Registered where xdist's workers report to; knows how the last one ended that did not end by itself."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="conformance-workers-")
        self.last = Ended("ended")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[TRACE] = str(Path(self.folder.name) / str(node.gateway.id))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Before xdist says which case was running."""
        if error is None:
            return
        status = None
        with contextlib.suppress(AttributeError, subprocess.TimeoutExpired):
            status = node.gateway._io.popen.wait(SECONDS)
        frame = last_frame(Path(node.workerinput[TRACE]))
        self.last = Ended(way(status) if status is not None else "lost", frame)

    def pytest_unconfigure(self) -> None:
        self.folder.cleanup()
