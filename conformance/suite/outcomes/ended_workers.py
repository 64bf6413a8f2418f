"""How a worker ended that a stack took with it: by which signal or exit status, and in which frame of the stack.

A worker also ends itself where it can run nothing more: when its case hangs in code that pytest-timeout's thread cannot
stop, and when its GPU is lost.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.program import devices
from conformance.run.in_child import Ended, last_frame, way

#: The file of a worker to which Python writes where it was when it crashed.
TRACE = "conformance_trace"
#: Seconds in which a process is gone whose connection has broken.
SECONDS = 10.0
#: Seconds after a case's time in which pytest-timeout may still end it.
GRACE = 5.0
#: Exit statuses of a worker whose GPU cannot be used any more, by the stack and by eager.
LOST, LOST_BY_EAGER = 97, 98
WAYS = {LOST: "left the GPU unusable", LOST_BY_EAGER: "eager left the GPU unusable"}
_FILE = pytest.StashKey[Any]()


def note_where_it_crashes(config: pytest.Config) -> None:
    """In a worker: a crash writes its trace to a file of its own, and not among what the run prints."""
    path = getattr(config, "workerinput", {}).get(TRACE)
    if path is not None:
        file = Path(path).open("w")  # noqa: SIM115 - it is there for as long as the process
        faulthandler.enable(file)
        config.stash[_FILE] = file
        config.add_cleanup(file.close)


@contextlib.contextmanager
def ended_where_it_hangs(config: pytest.Config) -> Iterator[None]:
    """In a worker: a case that is not over some time after its own ends the process, whatever it holds."""
    file, seconds = config.stash.get(_FILE, None), float(config.option.timeout or 0)
    if file is None or not seconds:
        yield
        return
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=file)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def end_where_the_gpu_is_lost(config: pytest.Config, device: str) -> None:
    """In a worker: after a kernel's failed assertion every later case would fail, so that another process runs them."""
    if _FILE in config.stash and devices.is_lost(device):
        os._exit(LOST_BY_EAGER if devices.LOST_BY_EAGER else LOST)


class EndedWorkers:
    """Registered where xdist's workers report to; knows how the last one ended that did not end by itself."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="conformance-workers-")
        self.last = Ended("ended")

    @property
    def by_eager(self) -> bool:
        """Whether what ended the last one was no stack."""
        return self.last.how == WAYS[LOST_BY_EAGER]

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
        self.last = Ended(WAYS.get(status, way(status)) if status is not None else "lost", frame)

    def pytest_unconfigure(self) -> None:
        self.folder.cleanup()
