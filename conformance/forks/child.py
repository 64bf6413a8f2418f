"""Inside a forked child: take on the process state of a fresh interpreter, carry out the order, and end."""

from __future__ import annotations

import atexit
import faulthandler
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

#: What a child is asked for: ``argv`` or ``code``, ``cwd``, ``environment``; and ``python``, which stands for an
#: interpreter and starts further children of the server, scripts without other files than the usual three.
Order = dict[str, Any]


def carry_out(order: Order, fds: list[int], main: Callable[[Order], int]) -> NoReturn:
    """Carry out an order in this process, which is freshly forked, and end it with the status that ``main`` returns."""
    status = 1
    try:
        try:
            os.setsid()
            become(order, fds)
            status = main(order)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException:
            traceback.print_exc()
        atexit._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def become(order: Order, fds: list[int]) -> None:
    """Take on the folder, environment, input and output of the order; the folders of caches follow from these."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for target, source in enumerate(fds):
        os.dup2(source, target)
    for fd in fds:
        os.close(fd)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    tempfile.tempdir = None
    faulthandler.enable(sys.__stderr__ or 2)
