"""What is warned of while a case runs, kept with the case instead of on the terminal."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

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
def without_warnings() -> Iterator[None]:
    """What prepares a run warns nobody: no program of a case runs in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
