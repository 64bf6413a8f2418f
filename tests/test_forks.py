"""The fork server: what a forked process finds, how it ends, and what happens without the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.forks.client import ForkServer

#: Stands for what a worker is: what it imports is there at once, and the code of an order is carried out.
MODULE = """\
import sys

def prepare():
    sys.modules["imported_once"] = sys

def main(order):
    exec(order["code"], {"__name__": "__main__"})
    return 0
"""
LOOK = "import sys, os; print('imported_once' in sys.modules, os.environ.get('GIVEN'), sys.stdin.readline().strip())"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "stands_for_a_worker.py").write_text(MODULE)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture
def server(environment: dict[str, str]) -> Iterator[ForkServer]:
    running = ForkServer("stands_for_a_worker", environment)
    yield running
    running.close()
    assert not running.root.exists()


def start(server: ForkServer, code: str) -> subprocess.CompletedProcess[str]:
    """What execnet does with a worker's interpreter."""
    return subprocess.run(
        [str(server.python), "-u", "-c", code],
        input="said\n",
        capture_output=True,
        text=True,
        env={**os.environ, "GIVEN": "by whoever starts it"},
    )


def test_a_fork_has_everything_imported(server: ForkServer) -> None:
    """Its input, output and environment are those of the process that stands for it."""
    assert start(server, LOOK).stdout == "True by whoever starts it said\n"


def test_it_starts_interpreters_as_any_process_does(server: ForkServer) -> None:
    """Inductor's pool of processes is given files that nothing in between would hand on."""
    assert start(server, "import sys; print(sys.executable)").stdout == f"{sys.executable}\n"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        pytest.param("raise SystemExit(7)", 7, id="status"),
        pytest.param("import os; os._exit(5)", 5, id="at-once"),
        pytest.param("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV, id="signal"),
        pytest.param("1 / 0", 1, id="exception"),
    ],
)
def test_it_ends_as_the_fork_did(server: ForkServer, code: str, status: int) -> None:
    """By the same status, or the same signal."""
    assert start(server, code).returncode == status


@pytest.mark.parametrize("ends", ["pass", "raise SystemExit(7)", "1 / 0"])
def test_what_is_registered_for_the_exit_is_done(server: ForkServer, ends: str) -> None:
    """As an interpreter does it, however its code ends."""
    code = f"import atexit; atexit.register(print, 'left in order')\n{ends}"
    assert start(server, code).stdout == "left in order\n"


def test_without_the_server_it_is_a_fresh_interpreter(server: ForkServer) -> None:
    """Nothing is lost but time."""
    server.wait_until_ready()
    server.process.kill()
    server.process.wait()
    assert start(server, LOOK).stdout == "False by whoever starts it said\n"


def test_a_server_that_cannot_import_is_none(environment: dict[str, str], tmp_path: Path) -> None:
    """Orders that came before it ended are carried out by a fresh interpreter as well."""
    (tmp_path / "stands_for_a_worker.py").write_text("def prepare():\n    raise ImportError('not here')\n")
    server = ForkServer("stands_for_a_worker", environment)
    assert start(server, LOOK).stdout == "False by whoever starts it said\n"
    assert "not here" in server.errors()
    server.close()
