"""The fork server: one process that has imported what others need, from which each of them is forked.

It ends when its standard input is closed, also because its parent was killed; it then ends all its
children and removes its folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.forks.child import Order, carry_out

SUBREAPER = 36  # prctl(PR_SET_CHILD_SUBREAPER): what a child leaves behind becomes ours to end


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


class Server:
    """Takes orders on a socket, forks a child for each and says how it ended."""

    def __init__(self, main: Callable[[Order], int], root: Path, listener: socket.socket) -> None:
        self.main, self.root, self.listener = main, root, listener
        self.python = str(root / "python")
        self.running: dict[int, Running] = {}
        self.selector = selectors.DefaultSelector()
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
            sys.stdout.write("ready\n")
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
                part, received, _, _ = socket.recv_fds(connection, 1 << 16, 3)
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
            carry_out({**order, "python": self.python}, fds, self.main)
        running = Running(pid, connection, started, started + order["seconds"] if "seconds" in order else None)
        running.group = order.get("group")
        self.running[pid] = running
        with contextlib.suppress(OSError):  # whoever asked is gone: the child ends with the connection
            connection.sendall(json.dumps({"pid": pid}).encode() + b"\n")
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
        """End processes whose parent is gone, and their session's leader, a child of ours: nothing may outlive it."""
        with contextlib.suppress(OSError):
            pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
            for pid in set(map(int, pids)) - set(self.running):
                with contextlib.suppress(ProcessLookupError):
                    if os.getsid(pid) not in self.running:
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
    """Import what the children need, make sure that forking is safe, and serve."""
    module, root, listener = importlib.import_module(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(listener, False)
    module.prepare()
    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    if threads != 1:
        complain(f"{threads} threads after importing: forked processes may hang")
    gc.freeze()
    Server(module.main, root, socket.socket(fileno=listener)).serve()


if __name__ == "__main__":
    main()
