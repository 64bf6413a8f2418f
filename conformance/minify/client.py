"""The client of the fork server: one server per process, started on first use, ended with the process."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.contract.run_environment import speedups_asked
from conformance.minify import compiler

STARTUP_SECONDS = 300.0
GRACE_SECONDS = 30.0

# Set before torch is imported: they are read there once.
ENVIRONMENT = {
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # counting devices must not initialize CUDA: a fork would be poisoned
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_VEC_ISA_OK": "0",  # saves compiling a probe in every cold cache
    "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# Debugging variables of the caller must not reach the steps.
DROPPED = ("TORCHDYNAMO_", "TORCH_LOGS", "TORCH_TRACE", "TORCH_COMPILE_DEBUG", "DUMP_AOTI_MINIFIER", "PYTEST_")


class ServerError(RuntimeError):
    """The fork server did not start, or is gone; a fault of the suite, never of a stack."""


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    status: int
    timed_out: bool
    seconds: float
    cpu_seconds: float
    output: str


class ForkServer:
    """A running fork server."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = dict(os.environ if environment is None else environment)
        for name in [name for name in self.environment if name.startswith(DROPPED)]:
            del self.environment[name]
        self.environment |= ENVIRONMENT
        source = str(Path(__file__).resolve().parents[2])
        paths = [source, *filter(None, [self.environment.get("PYTHONPATH")])]
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        self.process = subprocess.Popen(
            [sys.executable, "-m", "conformance.minify.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=self.environment | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # an interrupt from the keyboard reaches the near end only, which closes this one
        )
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        if not ready:
            self.process.wait()
            raise ServerError(f"the fork server did not start:\n{self.errors()}")
        greeting = json.loads(ready)
        self.root, self.address = Path(greeting["root"]), greeting["socket"]
        if speedups_asked():
            self.environment |= compiler.install(self.root, self.environment)

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

    def run(self, argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], seconds: float) -> Ended:
        """Run a script in a forked child until it ends, crashes, or its time is over."""
        order = {
            "argv": list(argv),
            "cwd": str(folder),
            "environment": self.environment | dict(environment),
            "seconds": seconds,
        }
        with tempfile.TemporaryFile() as output, socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(seconds + GRACE_SECONDS)
            try:
                connection.connect(self.address)
                socket.send_fds(connection, [json.dumps(order).encode() + b"\n"], [output.fileno(), output.fileno()])
                answer = connection.makefile().readline()
            except OSError as error:
                raise ServerError(f"the fork server does not answer: {error}\n{self.errors()}") from error
            if not answer:
                raise ServerError(f"the fork server is gone:\n{self.errors()}")
            output.seek(0)
            return Ended(output=output.read().decode(errors="replace"), **json.loads(answer))

    def close(self) -> None:
        """End the server and all that it started; it removes its folder itself."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.root, ignore_errors=True)
        self.process.stdout.close()
        self.log.close()


@functools.cache
def fork_server() -> ForkServer:
    """The fork server of this process."""
    server = ForkServer()
    owner = os.getpid()
    atexit.register(lambda: server.close() if os.getpid() == owner else None)
    return server
