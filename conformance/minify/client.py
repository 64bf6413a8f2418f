"""The client of the minifier's fork server: one server per process, started on first use, ended with the process."""

from __future__ import annotations

import atexit
import functools
import json
import os
import socket
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.contract.run_environment import speedups_asked
from conformance.forks.client import FORKABLE, GRACE_SECONDS, ForkServer, ServerError
from conformance.minify import compiler

#: Seconds in which a server has imported torch, on a machine that is busy.
STARTUP_SECONDS = 300.0
#: What the server imports, and what it does with an order.
CHILD = "conformance.minify.child"
# Set before torch is imported: they are read there once.
ENVIRONMENT = {
    **FORKABLE,
    "TORCHINDUCTOR_VEC_ISA_OK": "0",  # saves compiling a probe in every cold cache
    "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# Debugging variables of the caller must not reach the steps.
DROPPED = ("TORCHDYNAMO_", "TORCH_LOGS", "TORCH_TRACE", "TORCH_COMPILE_DEBUG", "DUMP_AOTI_MINIFIER", "PYTEST_")


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    status: int
    timed_out: bool
    seconds: float
    cpu_seconds: float
    output: str


class StepRunner(ForkServer):
    """Runs scripts in children of a fork server of its own, which has imported torch."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        found = steps_environment(os.environ if environment is None else environment)
        super().__init__(CHILD, found)
        if speedups_asked():
            found |= compiler.install(self.root, found)
        self.environment = found

    def run(self, argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], seconds: float) -> Ended:
        """Run a script in a forked child until it ends, crashes, or its time is over."""
        order = {
            "argv": list(argv),
            "cwd": str(folder),
            "environment": self.environment | dict(environment),
            "seconds": seconds,
        }
        with (
            tempfile.TemporaryFile() as output,
            open(os.devnull, "rb") as nothing,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            connection.settimeout(STARTUP_SECONDS)
            try:
                connection.connect(self.address)
                fds = [nothing.fileno(), output.fileno(), output.fileno()]
                socket.send_fds(connection, [json.dumps(order).encode() + b"\n"], fds)
                answers = connection.makefile()
                started = answers.readline()  # which a server that is still importing says later
                connection.settimeout(seconds + GRACE_SECONDS)
                answer = started and answers.readline()
            except OSError as error:
                raise ServerError(f"the fork server does not answer: {error}\n{self.errors()}") from error
            if not answer:
                raise ServerError(f"the fork server is gone:\n{self.errors()}")
            output.seek(0)
            return Ended(output=output.read().decode(errors="replace"), **json.loads(answer))


def steps_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of steps: what is read when torch is imported, and nothing that the caller debugs with."""
    return {name: value for name, value in environment.items() if not name.startswith(DROPPED)} | ENVIRONMENT


@functools.cache
def step_runner() -> StepRunner:
    """The one of this process, which ends with it."""
    running = StepRunner()
    owner = os.getpid()
    atexit.register(lambda: running.close() if os.getpid() == owner else None)
    running.wait_until_ready()
    return running
