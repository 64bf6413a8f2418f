"""What workers share: they are forks of a process that has imported torch and the suite, as the minifier's steps are.

Importing takes a worker ten seconds of a processor, and longer where many do it at once. So it would cost as much as a
dozen cases to replace one that a stack has ended.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Collection, Mapping
from typing import Any

from _pytest.assertion import install_importhook
from _pytest.config import get_config

from conformance.contract.run_environment import FRESH_WORKERS, MINIFY_SERVER
from conformance.forks.child import Order
from conformance.forks.client import ForkServer
from conformance.minify import child
from conformance.minify.client import OwnStepRunner

#: The plugins that take longest to import, and what they import whose assertions pytest rewrites as well.
PLUGINS = ("hypothesis", "conformance.plugin")
REWRITTEN = (*PLUGINS, "_hypothesis_globals", "_hypothesis_ftz_detector", "_hypothesis_pytestplugin")


class SharedServers:
    """The fork servers of one run with workers."""

    def __init__(self, environment: Mapping[str, str], areas: Collection[str]) -> None:
        self.contexts = contextlib.ExitStack()
        around = {**os.environ, **environment}
        self.workers: ForkServer | None = None
        self.steps: OwnStepRunner | None = None
        if FRESH_WORKERS not in os.environ and sys.platform == "linux":
            self.workers = ForkServer(__name__, around)
            self.contexts.callback(self.workers.close)
        if "minifier" in areas:
            self.steps = OwnStepRunner(around, on_demand=True)
            self.contexts.callback(self.steps.close)

    def set_up(self, spec: Any) -> None:
        """Let a worker, given by execnet's specification of it, use them."""
        if self.workers is not None:
            spec.python = str(self.workers.python)
        if self.steps is not None:
            spec.env[MINIFY_SERVER] = str(self.steps.root)

    def close(self) -> None:
        """End them; whatever still runs there ends as well."""
        self.contexts.close()


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
