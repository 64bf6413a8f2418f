"""The fork server: one process with torch imported, from which every step is forked as a process of its own.

It ends when its standard input is closed, also because its parent was killed; it then ends all its
children and removes its folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.minify import child

SUBREAPER = 36  # prctl(PR_SET_CHILD_SUBREAPER): what a child leaves behind becomes ours to end
#: The address of a socket is a path of at most 107 bytes on Linux, and of 103 elsewhere.
LONGEST_ADDRESS = 103
SHIM = """\
#!{python} -IS
import json, os, socket, sys
if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
order = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "environment": dict(os.environ), "group": os.getpgrp()}}
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [json.dumps(order).encode() + b"\\n"], [1, 2])
ended = json.loads(server.makefile().readline())
sys.exit(ended["status"] if ended["status"] >= 0 else 128 - ended["status"])
"""


@dataclass
class Running:
    """A child, which ends with the connection that asked for it or at its time limit."""

    pid: int
    connection: socket.socket
    started: float
    deadline: float | None
    timed_out: bool = False
    cpu_seconds: float = 0.0
    group: int | None = None

    def kill(self) -> None:
        """End the child and whatever is in its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def root_folder() -> Path:
    """A new folder of the server, below the temporary folder unless that path is too long for a socket's address."""
    deep = len(os.fsencode(tempfile.gettempdir())) + len("/conformance-minify-12345678/socket") > LONGEST_ADDRESS
    return Path(tempfile.mkdtemp(prefix="conformance-minify-", dir="/tmp" if deep else None))


class Server:
    """Takes orders on a socket in a folder of its own, forks a child for each and says how it ended."""

    def __init__(self) -> None:
        self.root = root_folder()
        self.running: dict[int, Running] = {}
        self.selector = selectors.DefaultSelector()
        self.listener = socket.socket(socket.AF_UNIX)
        address = str(self.root / "socket")
        self.listener.bind(address)
        self.listener.listen()
        self.shim = self.root / "python"
        self.shim.write_text(SHIM.format(python=sys.executable, address=address), encoding="utf-8")
        self.shim.chmod(0o700)
        self.wake_read, self.wake_write = os.pipe()
        for end in (self.wake_read, self.wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.wake_write)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(self.wake_read, selectors.EVENT_READ, self.reap)
        self.selector.register(sys.stdin.fileno(), selectors.EVENT_READ, self.stop)

    def serve(self) -> None:
        """Answer until the standard input is closed."""
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
        try:
            greeting = {"root": str(self.root), "socket": str(self.root / "socket")}
            sys.stdout.write(json.dumps(greeting) + "\n")
            sys.stdout.flush()
            while True:
                deadlines = [one.deadline for one in self.running.values() if one.deadline is not None]
                timeout = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
                for key, _ in self.selector.select(timeout):
                    key.data(key.fileobj)
                for one in self.running.values():
                    if one.deadline is not None and time.monotonic() >= one.deadline:
                        one.timed_out, one.deadline = True, None
                        one.kill()
        finally:
            self.close()

    def accept(self, listener: Any) -> None:
        """Read one order and fork for it."""
        connection, _ = listener.accept()
        connection.settimeout(10)
        text = b""
        fds: list[int] = []
        try:
            while not text.endswith(b"\n"):
                part, received, _, _ = socket.recv_fds(connection, 1 << 16, 2)
                if not part:
                    raise OSError("cut off")
                text, fds = text + part, fds + list(received)
            self.fork(connection, json.loads(text), fds)
        except (OSError, ValueError) as error:
            connection.close()
            complain(f"order refused: {error}")
        finally:
            for fd in fds:
                os.close(fd)

    def fork(self, connection: socket.socket, order: dict[str, Any], fds: list[int]) -> None:
        """Start the child of an order."""
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self.selector.close()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for end in (self.wake_read, self.wake_write):
                os.close(end)
            for sock in [self.listener, connection, *(one.connection for one in self.running.values())]:
                sock.close()
            child.run(order, fds, str(self.shim))
        running = Running(pid, connection, started, started + order["seconds"] if "seconds" in order else None)
        running.group = order.get("group")
        self.running[pid] = running
        self.selector.register(connection, selectors.EVENT_READ, lambda _: running.kill())

    def reap(self, wake: Any) -> None:
        """Collect the children that ended, end what they left behind, and answer."""
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            running = self.running.pop(ended.si_pid, None)
            if running is not None:
                running.kill()
            _, status, usage = os.wait4(ended.si_pid, 0)
            if running is not None:
                running.cpu_seconds += usage.ru_utime + usage.ru_stime
                if running.group in self.running:  # a query costs the launcher that asks it
                    self.running[running.group].cpu_seconds += running.cpu_seconds
                self.answer(running, status)
                self.kill_orphans()

    def answer(self, running: Running, status: int) -> None:
        """Say how a child ended."""
        ended = {
            "status": os.waitstatus_to_exitcode(status),
            "timed_out": running.timed_out,
            "seconds": time.monotonic() - running.started,
            "cpu_seconds": running.cpu_seconds,
        }
        self.selector.unregister(running.connection)
        with contextlib.suppress(OSError):
            running.connection.sendall(json.dumps(ended).encode() + b"\n")
        running.connection.close()

    def kill_orphans(self) -> None:
        """End processes whose parent, a child of ours, is gone: nothing may outlive its step."""
        with contextlib.suppress(OSError):
            pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
            for pid in set(map(int, pids)) - set(self.running):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def stop(self, lifeline: Any) -> None:
        """The process that started the server closed its end, or is gone."""
        if not os.read(lifeline, 4096):
            sys.exit(0)

    def close(self) -> None:
        """End every child and remove the folder."""
        for one in self.running.values():
            one.kill()
        self.kill_orphans()
        shutil.rmtree(self.root, ignore_errors=True)


def complain(text: str) -> None:
    """Report a fault to the process that started the server."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main() -> None:
    """Import what steps need, make sure that forking is safe, and serve."""
    server = Server()
    try:
        child.import_torch()
        threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
        if threads != 1:
            complain(f"{threads} threads after importing torch: forked steps may hang")
    except BaseException:
        server.close()
        raise
    server.serve()


if __name__ == "__main__":
    main()
