"""What is warned of while a case runs, kept with the case instead of on the terminal."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest


@contextmanager
def warnings_with(item: pytest.Item) -> Iterator[None]:
    """Add the warnings of a case's run to its captured log, each once with its number.

    The filters stay as they are, and the oracle has heard the warnings of a program before they come here. What torch
    logs is in the case's captured output, since pytest captures what it is written to.
    """
    heard: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            yield
    finally:
        counted = Counter(f"{one.category.__name__}: {one.message} ({one.filename}:{one.lineno})" for one in heard)
        if counted:
            item.add_report_section("call", "log", "\n".join(f"{number} x {one}" for one, number in counted.items()))


@contextmanager
def told_with(item: Any, report: pytest.TestReport) -> Iterator[None]:
    """Capture what is written while a failure is looked into, after its case has ended, and add it to its report."""
    before = len(item._report_sections)
    capture = item.config.pluginmanager.getplugin("capturemanager")
    try:
        with capture.item_capture("call", item) if capture else nullcontext(), without_warnings():
            yield
    finally:
        report.sections += [(f"Captured {kind} {when}", text) for when, kind, text in item._report_sections[before:]]


@contextmanager
def without_warnings() -> Iterator[None]:
    """What is said while nothing is compared warns nobody: that prepares a run, or looks into a failure once more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
