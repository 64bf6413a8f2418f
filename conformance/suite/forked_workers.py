"""Workers are forks of a process that has imported torch and the suite.

Importing takes a worker ten seconds of a processor, and longer where many do it at once. So it would cost as much as a
dozen cases to replace one that a stack has ended.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping

from _pytest.assertion import install_importhook
from _pytest.config import get_config

from conformance.contract.run_environment import FRESH_WORKERS
from conformance.forks.child import Order
from conformance.forks.client import ForkServer
from conformance.minify import child

#: The plugins that take longest to import, and what they import whose assertions pytest rewrites as well.
PLUGINS = ("hypothesis", "conformance.plugin")
REWRITTEN = (*PLUGINS, "_hypothesis_globals", "_hypothesis_ftz_detector", "_hypothesis_pytestplugin")


def worker_server(environment: Mapping[str, str], at_end: Callable[[Callable[[], None]], None]) -> ForkServer | None:
    """The server of a run's workers, closed at its end; None where each is to be fresh, or forks are not safe."""
    if FRESH_WORKERS in os.environ or sys.platform != "linux":
        return None
    server = ForkServer(__name__, {**os.environ, **environment})
    at_end(server.close)
    return server


def prepare() -> None:
    """In the server: import what a worker imports, as pytest would: it rewrites the assertions of plugins."""
    hook = install_importhook(get_config())
    hook.mark_rewrite(*REWRITTEN)
    try:
        for plugin in PLUGINS:
            importlib.import_module(plugin)
    finally:
        sys.meta_path.remove(hook)
    child.prepare()


def main(order: Order) -> int:
    """In a forked child: the code with which execnet starts a worker."""
    exec(order["code"], {"__name__": "__main__"})
    return 0
