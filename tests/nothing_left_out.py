"""A plugin for pytest: a run as a user would have it, with nothing left out, for the test that compares the two."""

from __future__ import annotations

import contextlib
import gc

import pytest

from conformance import plugin
from conformance.stacks import base


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Logs are written, guards are timed, kernels have line numbers, and garbage is looked for as ever."""
    for module, name, instead in (
        (base, "logs_left_out", contextlib.nullcontext),
        (base, "where_known", dict),
        (plugin, "GC_THRESHOLD_OF_A_RUN", gc.get_threshold()),
        (gc, "freeze", lambda: None),
    ):
        assert hasattr(module, name), f"{module.__name__} has no {name} any more"
        setattr(module, name, instead)
