"""The near end of a fork server: starts it, and ends it with the process."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

GRACE_SECONDS = 30.0
#: The address of a socket is a path of at most 107 bytes on Linux, and of 103 elsewhere.
LONGEST_ADDRESS = 103
#: While a server imports: counting devices must not initialize CUDA, which poisons forks; no thread survives one, nor
#: does inductor's pool of processes, which some releases start at once.
FORKABLE = {
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}
#: What stands for an interpreter: a script becomes an order to the server, and so does code where the output is not
#: buffered, which is how pytest-xdist starts its workers. Everything else, and all once the server is gone, is the real
#: interpreter's. It ends as the child did, by the same signal.
SHIM = """\
#!{python} -IS
import json, os, signal, socket, sys
given = sys.argv[1:]
order = {{"cwd": os.getcwd(), "environment": dict(os.environ), "group": os.getpgrp()}}
if given[:1] == ["-u"] and "-c" in given:
    order["code"] = given[given.index("-c") + 1]
elif given and not given[0].startswith("-"):
    order["argv"] = given
else:
    os.execv({python!r}, [{python!r}, *given])
server = socket.socket(socket.AF_UNIX)
try:
    server.connect({address!r})
    socket.send_fds(server, [json.dumps(order).encode() + b"\\n"], [0, 1, 2])
except OSError:
    os.execv({python!r}, [{python!r}, *given])
answers = server.makefile()
try:
    started = answers.readline()
except OSError:
    started = ""
if not started:
    os.execv({python!r}, [{python!r}, *given])
nothing = os.open(os.devnull, os.O_RDWR)
os.dup2(nothing, 0)
os.dup2(nothing, 1)
ended = answers.readline()
status = json.loads(ended)["status"] if ended else 1
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


class ServerError(RuntimeError):
    """The fork server did not start, or is gone; a fault of the suite, never of a stack."""


def root_folder() -> Path:
    """A new folder of a server, below the temporary folder unless that path is too long for a socket's address."""
    deep = len(os.fsencode(tempfile.gettempdir())) + len("/conformance-forks-12345678/socket") > LONGEST_ADDRESS
    return Path(tempfile.mkdtemp(prefix="conformance-forks-", dir="/tmp" if deep else None))


class ForkServer:
    """A fork server of this process. Orders may be sent at once: they wait until it has imported what it needs."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        self.root = root_folder()
        self.address = str(self.root / "socket")
        self.python = self.root / "python"
        self.python.write_text(SHIM.format(python=sys.executable, address=self.address), encoding="utf-8")
        self.python.chmod(0o700)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        source = str(Path(__file__).resolve().parents[2])
        paths = [source, *filter(None, [environment.get("PYTHONPATH")])]
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "conformance.forks.server", module, str(self.root), str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                env={**environment, **FORKABLE, "PYTHONPATH": os.pathsep.join(paths)},
                pass_fds=[listener.fileno()],
                start_new_session=True,  # an interrupt from the keyboard reaches the near end only, which closes this
            )

    def wait_until_ready(self) -> None:
        """Until it has imported what it needs; raises a `ServerError` with what it printed where it ends before."""
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            self.process.wait()
            raise ServerError(f"the fork server did not start:\n{self.errors()}")

    def errors(self) -> str:
        """What the server printed about itself."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace").strip()

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder that is removed afterwards, by the server if this process is killed."""
        path = Path(tempfile.mkdtemp(dir=self.root))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """End the server and all that it started; it removes its folder itself."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.root, ignore_errors=True)
        self.process.stdout.close()
        self.log.close()
